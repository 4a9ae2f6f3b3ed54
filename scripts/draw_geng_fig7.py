"""Figure 7 of Geng 2008: all methods."""

from qdrank.jobs import job
from qdrank.store import read
from qdrank.studies.geng2008.fig7 import draw

with job(snakemake.log[0]):
    draw(
        read(snakemake.input.measures, "measures"),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
        interval=snakemake.params.interval,
    )
