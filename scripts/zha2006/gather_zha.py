"""Tables of all regressors of a fold in one."""

from qdrank.studies.zha2006.shapes import gather_tables
from qdrank.workflow.script import job

with job() as this:
    gather_tables(this.files, this.out)
