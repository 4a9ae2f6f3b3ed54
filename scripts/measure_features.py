"""Measure every feature of a data set as a ranker."""

from qdrank.evaluation.measuring import write_feature_measures
from qdrank.workflow.script import job

with job() as this:
    write_feature_measures(this.files, this.path, **this.params)
