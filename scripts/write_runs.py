"""Runs of every method on the test queries of a fold, with metadata, and the judgments."""

from qdrank.evaluation.written_runs import write_runs
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    params = {name: value for name, value in snakemake.params.items() if name != "code"}
    write_runs(dict(snakemake.input.items()), dict(snakemake.output.items()), snakemake.wildcards.fold, **params)
