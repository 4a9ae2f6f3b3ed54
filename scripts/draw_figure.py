"""A figure of a study, and the numbers behind it."""

from qdrank.figures.style import save_figure
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.studies.making import from_job
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    paths = dict(snakemake.output.items())
    figure, numbers = loaded(snakemake.params.make)(*from_job(snakemake))
    write(paths.pop("parquet"), "figure", numbers)
    save_figure(figure, paths, dpi=snakemake.params.dpi)
