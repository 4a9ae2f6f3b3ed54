"""Runs of every method on the test queries of a fold, with metadata, and the judgments."""

from qdrank.evaluation.written_runs import write_runs
from qdrank.workflow.script import job

with job() as this:
    write_runs(this.files, this.path, this.fold, **this.params)
