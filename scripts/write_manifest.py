"""Digests of everything that was made."""

from pathlib import Path

from qdrank.jobs import job
from qdrank.store import write_text
from qdrank.store.manifest import manifest_text

with job(snakemake.log[0]):
    folder = Path(snakemake.output[0]).parent
    write_text(snakemake.output[0], manifest_text(folder, snakemake.params.timed))
