"""The methods of a fold as rankers for new queries."""

from qdrank.studies.geng2008.rankers import pack_rankers
from qdrank.workflow.script import job

with job() as this:
    pack_rankers(this.files, this.out, this.fold, log=this.log, **this.params)
