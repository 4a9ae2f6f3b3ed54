"""A figure of a study, and the numbers behind it."""

from qdrank.figures.style import save_figure
from qdrank.jobs import job
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.studies.making import from_job

with job(snakemake.log[0]):
    paths = dict(snakemake.output.items())
    figure, numbers = loaded(snakemake.params.make)(*from_job(snakemake))
    write(paths.pop("parquet"), "figure", numbers)
    save_figure(figure, paths, dpi=snakemake.params.dpi)
