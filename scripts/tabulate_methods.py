"""All methods of a data set, best first."""

from qdrank.figures.methods import tabulate_methods
from qdrank.workflow.script import job

with job() as this:
    tabulate_methods(this.files, this.out, **this.params)
