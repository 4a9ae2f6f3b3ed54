"""Fetch the files of a registered data set, and write down where they lie."""

import json
from pathlib import Path

from qdrank.datasets.fetch import fetch
from qdrank.datasets.registry import load
from qdrank.jobs import job
from qdrank.store import write_text

with job(snakemake.log[0]) as log:
    dataset = load()[snakemake.wildcards.dataset]
    folder = Path(snakemake.output[0]).with_suffix("")
    files = {}
    for file in dataset.files:
        path = fetch(dataset, file.name, folder, mirror=snakemake.params.mirror)
        log.info("%s: %s", file.name, path)
        files[file.name] = str(path)
    write_text(snakemake.output[0], json.dumps(files, indent=1) + "\n")
