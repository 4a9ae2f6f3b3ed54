"""The stability bound of Geng 2008 beside what is observed on each fold, with models of the hinge loss."""

from qdrank.studies.geng2008.stability import write_bound
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_bound(one.files, one.path, one.fold, log=one.log, **one.params)
