"""Query vectors of a fold."""

from qdrank.queries.recipe import write_queries
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_queries(one.files, one.out, one.fold, **one.params)
