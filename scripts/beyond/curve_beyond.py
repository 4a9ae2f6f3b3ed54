"""The learning curve of a fold, and the curve of thinned recurrence."""

from qdrank.studies.beyond.curves import write_curves
from qdrank.workflow.script import job

with job() as this:
    write_curves(this.files, this.out, this.fold, **this.params)
