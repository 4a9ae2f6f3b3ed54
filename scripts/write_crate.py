"""A finished run as an RO-Crate."""

from qdrank.store.crate import write_crate
from qdrank.workflow.script import job

with job() as this:
    write_crate(this.path, **this.params)
