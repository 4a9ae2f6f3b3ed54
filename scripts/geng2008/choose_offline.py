"""The ready models that the offline methods of Geng 2008 use for the queries of a fold."""

from qdrank.studies.geng2008.offline import choose_offline
from qdrank.workflow.script import job

with job() as this:
    choose_offline(this.files, this.path, this.fold, **this.params)
