"""Retrieval with past queries for a fold of a text set, in one form of the judgments."""

from qdrank.studies.beyond.retrieval import write_retrieval
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, wildcards = snakemake.params, snakemake.wildcards
    write_retrieval(
        dict(snakemake.output.items()),
        wildcards.fold,
        wildcards.form,
        source=params.source,
        text=params.text,
        retrieval=params.retrieval,
        near=params.near,
        measure=params.measure,
        measures=params.measures,
        seed=params.seed,
        log=log.info,
    )
