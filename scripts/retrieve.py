"""First stages of a text set on a fold: scores of the test queries, and the settings tried on validation."""

from qdrank.evaluation.first_stages import write_first_stages
from qdrank.workflow.script import job

with job() as this:
    write_first_stages(this.files, this.out, this.fold, log=this.log, **this.params)
