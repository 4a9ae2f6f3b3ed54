"""The k-NN graph of a fold."""

from qdrank.datasets.judged import load_judged
from qdrank.jobs import job
from qdrank.queries.artifacts import load_queries
from qdrank.queries.graph import neighbours_table
from qdrank.store import write

with job(snakemake.log[0]):
    queries, judged, documents = load_queries(snakemake.input.queries), snakemake.input.get("judged"), None
    if judged:  # the metric learns from documents
        documents = load_judged(judged, ["features"]).of_role(snakemake.wildcards.fold, "train")
    write(snakemake.output[0], "neighbours", neighbours_table(queries, snakemake.params.options, documents))
