"""What was run on what."""

from qdrank.figures.overview import write_overview
from qdrank.workflow.script import job

with job() as this:
    write_overview(this.path, **this.params)
