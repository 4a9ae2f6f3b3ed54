"""Fetch the files of a registered data set, and write down where they lie."""

import json
import os
from pathlib import Path

from qdrank.datasets.fetching.fetch import fetch_all
from qdrank.datasets.registry import load
from qdrank.store import write_text
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    dataset = load()[snakemake.wildcards.dataset]
    # Where a file was found changes nothing in it, so the mirror is no param; the environment's wins.
    mirror = os.environ.get("QDRANK_MIRROR") or snakemake.config.get("mirror")
    files = fetch_all(dataset, Path(snakemake.output[0]).with_suffix(""), mirror=mirror)
    for name, path in files.items():
        log.info("%s: %s", name, path)
    write_text(snakemake.output[0], json.dumps({name: str(path) for name, path in files.items()}, indent=1) + "\n")
