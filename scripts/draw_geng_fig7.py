"""Figure 7 of Geng 2008: all methods."""

from qdrank.figures.geng_fig7 import draw
from qdrank.jobs import job
from qdrank.store import read

with job(snakemake.log[0]):
    draw(
        read(snakemake.input.measures, "measures"),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
        interval=snakemake.params.interval,
    )
