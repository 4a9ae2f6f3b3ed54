"""Table of what a data set holds."""

from qdrank.datasets.judged import load_judged
from qdrank.figures.data import data_summary
from qdrank.figures.tables import write_table
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    table = data_summary(load_judged(snakemake.input.judged, ["features"]), snakemake.params.published)
    write_table(table, dict(snakemake.output.items()), digits=1, title=snakemake.params.title)
