"""Figures of a study that are drawn from the same files, and the numbers behind them."""

from qdrank.studies.drawing import draw_figures
from qdrank.workflow.script import job

with job() as this:
    draw_figures(this.files, this.out, this.dataset, **this.params)
