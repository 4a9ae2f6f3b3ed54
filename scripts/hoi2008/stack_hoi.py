"""Ensembles of methods on a fold, learned on the validation queries."""

from qdrank.studies.hoi2008.stacking import write_stacked
from qdrank.workflow.script import job

with job() as this:
    write_stacked(this.files, this.out, this.fold, scale=this.params["scale"], hoi=this.params["hoi"])
