"""Tables of the classic learners and aggregators."""

from qdrank.figures.learners import tabulate_learners
from qdrank.workflow.script import job

with job() as this:
    tabulate_learners(this.files, this.out, **this.params)
