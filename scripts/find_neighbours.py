"""The k-NN graph of a fold."""

from dataclasses import replace

from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import load_queries
from qdrank.queries.fitted import metric_table
from qdrank.queries.graph import GraphOptions, neighbours_table
from qdrank.rankers.sizes import stored_neighbours
from qdrank.store import write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    queries, judged, documents = load_queries(snakemake.input.queries), snakemake.input.get("judged"), None
    if judged:  # the metric learns from documents
        documents = load_judged(judged, ["features"]).of_role(snakemake.wildcards.fold, "train")
    options = GraphOptions(**snakemake.params.options)
    if options.largest is None:
        options = replace(options, largest=stored_neighbours(snakemake.params.used, int(queries.is_train.sum())))
    table, metric = neighbours_table(queries, options, documents)
    write(snakemake.output.neighbours, "neighbours", table)
    write(snakemake.output.metric, "fitted", metric_table(options.metric, metric))
