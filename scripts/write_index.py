"""The page that a reader opens first."""

import vl_convert

from qdrank.pages.explorer import explored
from qdrank.pages.page import index_page
from qdrank.store import read, write_text
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files, params = snakemake.input, snakemake.params
    maps = {name: explored(read(path, "map")) for name, path in zip(params.datasets, files.maps, strict=True)}
    tables = {
        what: {name: read(path, "table").to_pylist() for name, path in zip(names, paths, strict=True)}
        for what, names, paths in (
            ("methods", params.datasets, files.methods),
            ("summaries", params.datasets, files.summaries),
            ("notes", params.texts, files.notes),
        )
    }
    figures = dict(zip(map(tuple, params.figures), files.figures, strict=True))
    verdicts = read(files.claims, "verdicts")
    page = index_page(params.run, verdicts, figures, maps, vl_convert.javascript_bundle(), **tables)
    write_text(snakemake.output[0], page)
