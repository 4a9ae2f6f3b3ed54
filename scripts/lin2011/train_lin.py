"""A shard of the clusters of a fold and their local models."""

from qdrank.studies.lin2011.units import train_units
from qdrank.workflow.script import job

with job() as this:
    train_units(this.files, this.out, this.fold, this.shard, log=this.log, **this.params)
