"""Query vectors of a fold."""

from qdrank.queries.recipe import write_queries
from qdrank.workflow.script import job

with job() as this:
    write_queries(this.files, this.out, this.fold, **this.params)
