"""Table of what a data set holds."""

from qdrank.figures.data import write_summary
from qdrank.workflow.script import job

with job() as this:
    write_summary(this.files, this.out, **this.params)
