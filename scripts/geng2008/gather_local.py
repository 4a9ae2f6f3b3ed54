"""Shards of local models put together."""

from qdrank.store import read, write
from qdrank.studies.geng2008.local_models import gathered
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    shards = [read(path, "local_models") for path in snakemake.input.shards]
    ids = read(snakemake.input.queries, "queries", ["query_id"]).column("query_id")
    write(snakemake.output[0], "local_models", gathered(shards, ids.to_numpy(zero_copy_only=False)))
