"""Shards of local models put together."""

from qdrank.studies.geng2008.local_models import gather_local
from qdrank.workflow.script import job

with job() as this:
    gather_local(this.files, this.path)
