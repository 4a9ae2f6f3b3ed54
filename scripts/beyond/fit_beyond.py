"""Rankers and controls of a fold, all or those of a step: choices, scores, values of the controls, and rankers to serve."""

from qdrank.studies.beyond.fitting import fit_steps
from qdrank.workflow.script import job

with job() as this:
    fit_steps(this.files, this.out, this.fold, log=this.log, **this.params)
