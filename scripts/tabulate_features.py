"""Tables of the single features."""

from qdrank.figures.features import tabulate_features
from qdrank.workflow.script import job

with job() as this:
    tabulate_features(this.files, this.out, **this.params)
