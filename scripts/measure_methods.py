"""Measure the methods of a data set on its test queries."""

from qdrank.evaluation.measuring import write_measures
from qdrank.workflow.script import job

with job() as this:
    write_measures(this.files, this.path, **this.params)
