"""Time of each step of testing, on one fold."""

from qdrank.studies.geng2008.timing import write_times
from qdrank.workflow.script import job

with job() as this:
    write_times(this.files, this.path, **this.params)
