"""Scores of the methods of Geng 2008 on a fold, with the settings that validation chooses."""

from qdrank.studies.geng2008.scoring import write_scores
from qdrank.workflow.script import job

with job() as this:
    write_scores(this.files, this.out, this.fold, log=this.log, **this.params)
