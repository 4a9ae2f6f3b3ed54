"""A shard of the local models of a fold."""

from qdrank.studies.geng2008.local_models import train_local
from qdrank.workflow.script import job

with job() as this:
    train_local(this.files, this.path, this.fold, this.shard, log=this.log, **this.params)
