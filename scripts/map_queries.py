"""The queries of a data set in the plane."""

from qdrank.pages.queries import write_map
from qdrank.workflow.script import job

with job() as this:
    write_map(this.files, this.path)
