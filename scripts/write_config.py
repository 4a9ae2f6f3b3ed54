"""The resolved configuration."""

import yaml

from qdrank.jobs import job
from qdrank.store import write_text

with job(snakemake.log[0]):
    write_text(snakemake.output[0], yaml.safe_dump(snakemake.params.settings, sort_keys=False))
