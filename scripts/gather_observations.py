"""Observations for the claims of a study on a data set, and the verdicts."""

from qdrank.studies.claiming import gather_observations
from qdrank.workflow.script import job

with job() as this:
    gather_observations(this.files, this.out, this.dataset, **this.params)
