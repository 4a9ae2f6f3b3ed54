"""Scores of the reference feature on the test documents of a fold."""

from qdrank.rankers.reference import write_reference
from qdrank.workflow.script import job

with job() as this:
    write_reference(this.files, this.out, this.fold)
