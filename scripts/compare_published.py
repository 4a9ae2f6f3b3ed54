"""Table of published figures beside ours."""

from qdrank.figures.published import write_published
from qdrank.workflow.script import job

with job() as this:
    write_published(this.files, this.out, log=this.log, **this.params)
