"""The global Ranking SVM of the study of Lin 2011 on a fold, its lambda chosen on validation."""

from qdrank.studies.lin2011.singles import write_singles
from qdrank.workflow.script import job

with job() as this:
    write_singles(this.files, this.out, this.fold, log=this.log, **this.params)
