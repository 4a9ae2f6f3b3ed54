"""Scores of the methods of Geng 2008 on a fold, with the settings that validation chooses, and the rankers."""

from qdrank.studies.geng2008.scoring import score_fold
from qdrank.workflow.script import job

with job() as this:
    score_fold(this.files, this.out, this.fold, log=this.log, **this.params)
