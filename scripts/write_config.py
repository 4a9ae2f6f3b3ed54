"""The resolved configuration, and the files that it was resolved from."""

import yaml

from qdrank.jobs import job
from qdrank.store import write_text
from qdrank.workflow.recorded import recorded_text

with job(snakemake.log[0]):
    settings = yaml.safe_dump(snakemake.params.settings, sort_keys=False)
    write_text(snakemake.output[0], recorded_text(snakemake.params.files, settings))
