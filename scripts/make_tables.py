"""Tables of a study that belong together."""

from qdrank.studies.tabulating import make_tables
from qdrank.workflow.script import job

with job() as this:
    make_tables(this.files, this.out, this.dataset, **this.params)
