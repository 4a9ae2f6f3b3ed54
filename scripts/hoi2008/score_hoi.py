"""Weights of a fold put together, every gamma measured, and scores with the chosen ones."""

from qdrank.studies.hoi2008.scoring import write_scores
from qdrank.workflow.script import job

with job() as this:
    write_scores(this.files, this.out, this.fold, log=this.log, **this.params)
