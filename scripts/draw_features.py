"""Picture of the best single features."""

from qdrank.figures.features import draw
from qdrank.jobs import job
from qdrank.store import read

with job(snakemake.log[0]):
    draw(
        read(snakemake.input.measures, "measures"),
        read(snakemake.input.columns, "columns"),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
        **snakemake.params.interval,
    )
