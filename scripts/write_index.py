"""The page that a reader opens first."""

import vl_convert

from qdrank.pages.explorer import explored
from qdrank.pages.page import index_page
from qdrank.store import read, write_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    maps = {name: explored(read(path, "map")) for name, path in zip(params.maps, files.maps, strict=True)}
    verdicts = read(files.claims, "verdicts")
    write_text(snakemake.output[0], index_page(params.run, verdicts, "results", maps, vl_convert.javascript_bundle()))
