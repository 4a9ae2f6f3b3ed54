"""What was run on what."""

from qdrank.figures.overview import overview_page
from qdrank.jobs import job
from qdrank.store import write_text

with job(snakemake.log[0]):
    write_text(snakemake.output[0], overview_page(snakemake.params.datasets, snakemake.params.left_out))
