"""First stages of all text sets."""

from qdrank.figures.methods import tabulate_first_stages
from qdrank.workflow.script import job

with job() as this:
    tabulate_first_stages(this.files, this.out, **this.params)
