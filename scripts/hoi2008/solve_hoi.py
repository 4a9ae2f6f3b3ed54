"""The programs of one shard of the queries of a fold."""

from qdrank.studies.hoi2008.fold import write_shard
from qdrank.workflow.script import job

with job() as this:
    write_shard(this.files, this.path, this.fold, this.shard, log=this.log, **this.params)
