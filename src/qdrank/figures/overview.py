"""The report's first page: the data sets, what was left out and why, and the software."""

from __future__ import annotations

import html
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from qdrank.store import write_text

LIBRARIES = ("snakemake", "numpy", "scipy", "numba", "pyarrow", "lightgbm", "matplotlib")

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>This run</title><style>
body {{ font: 14px/1.5 system-ui, sans-serif; margin: 1.5em; color: #222; max-width: 70em }}
table {{ border-collapse: collapse; margin-bottom: 1.5em }}
th, td {{ padding: .25em .8em; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd }}
th {{ border-bottom: 2px solid #444 }}
</style></head><body>
<h1>This run</h1>
{body}
</body></html>
"""


def overview_page(datasets: Mapping[str, Mapping[str, Any]], left_out: Mapping[str, str]) -> str:
    """The page, as HTML."""
    rows = [[name, d["title"], d["kind"], ", ".join(d["folds"]), d["note"]] for name, d in datasets.items()]
    body = "<h2>Data sets</h2>" + _table(["data set", "title", "kind", "folds", "note"], rows)
    if left_out:
        body += "<h2>Left out</h2><p>In the configuration, but not available here:</p>"
        body += _table(["data set", "reason"], [[name, reason] for name, reason in left_out.items()])
    software = [["python", platform.python_version()], *([name, version(name)] for name in LIBRARIES)]
    return _PAGE.format(body=body + "<h2>Software</h2>" + _table(["package", "version"], software))


def write_overview(path: str, *, datasets: Mapping[str, Mapping[str, Any]], left_out: Mapping[str, str]) -> None:
    """Write the page."""
    write_text(path, overview_page(datasets, left_out))


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><tr>{cells}</tr>\n{lines}</table>"
