"""A figure of a study, and the numbers behind it."""

from qdrank.studies.drawing import draw_figure
from qdrank.workflow.script import job

with job() as this:
    draw_figure(this.files, this.out, this.dataset, **this.params)
