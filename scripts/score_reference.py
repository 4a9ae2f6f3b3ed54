"""Scores of the reference feature on the test documents of a fold."""

from qdrank.rankers.reference import write_reference
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        write_reference(one.files, one.out, one.fold)
