"""The papers' methods on the runs of a fold, their controls, and rankers to serve."""

from qdrank.studies.hybrid.writing import write_papers
from qdrank.workflow.script import job

with job() as this:
    write_papers(this.files, this.out, this.fold, log=this.log, **this.params)
