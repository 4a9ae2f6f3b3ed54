"""The global Ranking SVM of the study of Lin 2011 on each fold, its lambda chosen on validation."""

from qdrank.studies.lin2011.singles import write_singles
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_singles(one.files, one.out, one.fold, log=one.log, **one.params)
