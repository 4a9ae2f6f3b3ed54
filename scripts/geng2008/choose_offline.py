"""The ready models that the offline methods of Geng 2008 use for the queries of a fold."""

from qdrank.studies.geng2008.offline import choose_offline
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        choose_offline(one.files, one.path, one.fold, **one.params)
