"""Tables of all regressors of a fold in one."""

from qdrank.studies.zha2006.shapes import gather_tables
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        gather_tables(one.files, one.out, **one.params)
