"""Picture of the best single features."""

from qdrank.figures.features import draw
from qdrank.store import read
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    draw(
        read(snakemake.input.measures, "measures"),
        read(snakemake.input.columns, "columns"),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
        **snakemake.params.interval,
    )
