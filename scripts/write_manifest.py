"""Digests of everything that was made."""

from qdrank.store.manifest import write_manifest
from qdrank.workflow.script import job

with job() as this:
    write_manifest(this.path, **this.params)
