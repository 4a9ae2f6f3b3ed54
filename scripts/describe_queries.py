"""Query vectors of a fold."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.jobs import job
from qdrank.queries.artifacts import queries_table
from qdrank.store import read, write

with job(snakemake.log[0]):
    judged = load_judged(snakemake.input.judged, ["features"])
    table = queries_table(
        judged,
        read(snakemake.input.topics, "topics"),
        reference_column(snakemake.input.columns),
        snakemake.wildcards.fold,
        snakemake.params.options,
    )
    write(snakemake.output[0], "queries", table)
