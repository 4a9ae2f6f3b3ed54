"""Fetch the files of a registered data set, and write down where they lie."""

from qdrank.datasets.fetching.fetch import fetch_listed
from qdrank.workflow.script import job

with job() as this:
    fetch_listed(this.dataset, this.path, this.config.get("mirror"), this.log)
