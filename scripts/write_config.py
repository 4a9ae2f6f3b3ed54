"""The resolved configuration, and the files that it was resolved from."""

import yaml

from qdrank.store import write_text
from qdrank.workflow.recorded import recorded_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    settings = yaml.safe_dump(snakemake.params.settings, sort_keys=False)
    write_text(snakemake.output[0], recorded_text(snakemake.params.files, settings))
