"""The learning curve of a fold."""

from qdrank.studies.hoi2008.learning_curve import write_curve
from qdrank.workflow.script import job

with job() as this:
    write_curve(this.files, this.path, this.fold, **this.params)
