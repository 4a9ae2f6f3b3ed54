"""All methods and controls of a fold of runs, the oracles and the curves, and rankers to serve."""

from qdrank.studies.hybrid.writing import write_fold
from qdrank.workflow.script import job

with job() as this:
    write_fold(this.files, this.out, this.fold, log=this.log, **this.params)
