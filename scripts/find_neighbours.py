"""The k-NN graph of a fold."""

from qdrank.jobs import job
from qdrank.queries.artifacts import load_queries
from qdrank.queries.graph import neighbours_table
from qdrank.store import write

with job(snakemake.log[0]):
    write(
        snakemake.output[0], "neighbours", neighbours_table(load_queries(snakemake.input[0]), snakemake.params.options)
    )
