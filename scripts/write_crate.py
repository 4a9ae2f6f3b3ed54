"""A finished run as an RO-Crate."""

from pathlib import Path

from qdrank import __version__
from qdrank.store import write_text
from qdrank.store.crate import crate_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    folder = Path(snakemake.output[0]).parent
    write_text(snakemake.output[0], crate_text(folder, name=snakemake.params.title, version=__version__))
