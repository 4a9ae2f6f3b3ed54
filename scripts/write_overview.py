"""What was run on what."""

from qdrank.figures.overview import overview_page
from qdrank.store import write_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    write_text(snakemake.output[0], overview_page(snakemake.params.datasets, snakemake.params.left_out))
