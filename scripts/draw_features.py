"""Picture of the best single features."""

from qdrank.figures.features import draw_features
from qdrank.workflow.script import job

with job() as this:
    draw_features(this.files, this.out, **this.params)
