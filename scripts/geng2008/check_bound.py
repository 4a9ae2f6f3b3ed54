"""The stability bound of Geng 2008 beside what is observed on a fold, with models of the hinge loss."""

from qdrank.studies.geng2008.stability import write_bound
from qdrank.workflow.script import job

with job() as this:
    write_bound(this.files, this.path, this.fold, log=this.log, **this.params)
