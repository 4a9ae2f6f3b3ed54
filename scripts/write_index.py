"""The page that a reader opens first."""

from qdrank.pages.page import write_index
from qdrank.workflow.script import job

with job() as this:
    write_index(this.files, this.path, **this.params)
