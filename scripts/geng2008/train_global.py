"""Models of all training queries and of classes of queries."""

from qdrank.studies.geng2008.global_models import write_global
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_global(one.files, one.out, one.fold, log=one.log, **one.params)
