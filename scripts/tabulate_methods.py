"""All methods of a data set, best first."""

from qdrank.figures.methods import methods_table
from qdrank.figures.tables import write_table
from qdrank.store import read
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params = snakemake.params
    table = methods_table(read(snakemake.input.measures, "measures"), params.labels, params.convention, params.interval)
    write_table(table, dict(snakemake.output.items()), title=f"{params.title}: all methods")
