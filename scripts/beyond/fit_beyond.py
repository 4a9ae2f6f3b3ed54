"""All rankers and controls of a fold: choices, scores, values of the controls, checks, and rankers to serve."""

from qdrank.studies.beyond.fitting import fit_fold
from qdrank.workflow.script import job

with job() as this:
    fit_fold(this.files, this.out, this.fold, log=this.log, **this.params)
