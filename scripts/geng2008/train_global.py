"""Models of all training queries and of classes of queries."""

from qdrank.studies.geng2008.global_models import write_global
from qdrank.workflow.script import job

with job() as this:
    write_global(this.files, this.out, this.fold, log=this.log, **this.params)
