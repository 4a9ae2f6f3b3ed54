"""Digests of everything that was made."""

from pathlib import Path

from qdrank.store import write_text
from qdrank.store.manifest import manifest_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    folder = Path(snakemake.output[0]).parent
    write_text(snakemake.output[0], manifest_text(folder, snakemake.params.timed))
