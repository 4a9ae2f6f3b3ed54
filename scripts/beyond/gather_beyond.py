"""Choices and values of the controls of all steps of a fold, and the ranker that validation chose."""

from qdrank.studies.beyond.gathering import gather_steps
from qdrank.workflow.script import job

with job() as this:
    for one in this.folds:
        gather_steps(one.files, one.out, one.fold, **one.params)
