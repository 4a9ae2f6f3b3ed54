"""A table in five formats from one set of numbers: Parquet to compute with, CSV, Markdown, LaTeX and HTML to read."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from qdrank.store import write, write_text

_Rows = list[list[str]]


def write_table(table: pa.Table, paths: Mapping[str, str | Path], *, digits: int = 4, title: str = "") -> None:
    """Write ``table`` under each path of ``paths``; the suffix decides the format.

    Numbers keep full precision in Parquet and CSV and are rounded to ``digits`` elsewhere.
    """
    for path in map(Path, paths.values()):
        if path.suffix == ".parquet":
            write(path, "table", table)
        else:
            write_text(path, _FORMS[path.suffix](table, digits, title))


def chosen_by_fold(choices: Sequence[pa.Table]) -> dict[str, list[str]]:
    """Method to the settings that validation chose, one per fold, from the artifacts ``choices`` of the folds."""
    found: dict[str, list[str]] = {}
    for row in (row for table in choices for row in table.to_pylist()):
        if row["chosen"]:
            found.setdefault(row["method"], []).append(row["setting"])
    return found


def markdown(table: pa.Table, *, digits: int = 4) -> str:
    """``table`` in Markdown."""
    return _markdown(table, digits, "")


def _cells(table: pa.Table, digits: int) -> _Rows:
    return [[_shown(value, digits) for value in row.values()] for row in table.to_pylist()]


def _shown(value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if value != value else f"{value:.{digits}f}"
    return str(value)


def _csv(table: pa.Table, _digits: int, _title: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    writer.writerows(
        [
            ["" if v is None else repr(v) if isinstance(v, float) else v for v in row.values()]
            for row in table.to_pylist()
        ]
    )
    return out.getvalue()


def _markdown(table: pa.Table, digits: int, _title: str) -> str:
    marks = ["---:" if _is_number(field) else "---" for field in table.schema]
    rows = [table.column_names, marks, *_cells(table, digits)]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def _latex(table: pa.Table, digits: int, _title: str) -> str:
    columns = "".join("r" if _is_number(field) else "l" for field in table.schema)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _latex_row(table.column_names), r"\midrule"]
    lines += [_latex_row(row) for row in _cells(table, digits)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex_escaped, cells)) + r" \\"


def _latex_escaped(text: str) -> str:
    special = {c: f"\\{c}" for c in "&%$#_{}"} | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
    return "".join(special.get(c, c) for c in text)


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; color: #222 }}
table {{ border-collapse: collapse }}
th, td {{ padding: .25em .7em; text-align: left; border-bottom: 1px solid #ddd; white-space: nowrap }}
th {{ border-bottom: 2px solid #444; position: sticky; top: 0; background: #fff }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums }}
tr:hover td {{ background: #f4f7fb }}
td.w {{ white-space: normal; max-width: 40em }}
</style></head><body>
<h1>{title}</h1>
<table><thead><tr>{head}</tr></thead><tbody>
{body}</tbody></table>
</body></html>
"""


def _html(table: pa.Table, digits: int, title: str) -> str:
    kinds = ["n" if _is_number(field) else "" for field in table.schema]
    head = "".join(_cell("th", name, kind) for name, kind in zip(table.column_names, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, kind) for cell, kind in zip(row, kinds, strict=True)) + "</tr>\n"
        for row in _cells(table, digits)
    )
    return _PAGE.format(title=html.escape(title), head=head, body=body)


def _cell(tag: str, text: str, kind: str) -> str:
    kind = kind or ("w" if len(text) > 60 else "")
    return f"<{tag}{f' class={kind}' if kind else ''}>{html.escape(text)}</{tag}>"


def _is_number(field: pa.Field) -> bool:
    return bool(pa.types.is_floating(field.type) or pa.types.is_integer(field.type))


_FORMS: dict[str, Callable[[pa.Table, int, str], str]] = {
    ".csv": _csv,
    ".md": _markdown,
    ".tex": _latex,
    ".html": _html,
}
