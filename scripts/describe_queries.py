"""Query vectors of a fold."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import VectorOptions, describe_queries
from qdrank.queries.fitted import scale_table
from qdrank.store import read, write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    judged = load_judged(snakemake.input.judged, ["features"])
    table, scaler = describe_queries(
        judged,
        read(snakemake.input.topics, "topics"),
        reference_column(snakemake.input.columns),
        snakemake.wildcards.fold,
        VectorOptions(**snakemake.params.options),
    )
    write(snakemake.output.queries, "queries", table)
    write(snakemake.output.scale, "fitted", scale_table(scaler))
