"""A table in five formats from one set of numbers: Parquet to compute with, CSV, Markdown, LaTeX and HTML to read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa

from qdrank.figures.table_page import is_number, table_page
from qdrank.store import write, write_text

_Rows = list[list[str]]

#: Names of columns of p-values: "p", "p (Holm)", "p, corrected"; not "p@5/letor4".
_P_VALUES = re.compile(r"p($|, | \()")


def write_table(
    table: pa.Table,
    paths: Mapping[str, str | Path],
    *,
    digits: int = 4,
    title: str = "",
    folded: Collection[str] = (),
    said: str = "",
) -> None:
    """Write ``table`` under each path of ``paths``; the suffix decides the format.

    Numbers keep full precision in Parquet and CSV and are rounded to ``digits`` elsewhere. A p-value, or another number, that
    is not 0 is never shown as 0, and a column of whole numbers is shown as such. ``folded`` are columns that the page
    (HTML) shows only when the reader opens a row, ``said`` a paragraph under its title.
    """
    for path in map(Path, paths.values()):
        if path.suffix == ".parquet":
            write(path, "table", table)
        elif path.suffix == ".html":
            write_text(path, table_page(table, _cells(table, digits), title, folded, said))
        else:
            write_text(path, _FORMS[path.suffix](table, digits, title))


def write_tables(tables: Mapping[str, tuple[pa.Table, str]], paths: Mapping[str, str | Path]) -> None:
    """Write tables with their titles; the names of the paths of one begin with its name and an underscore."""
    for name, (table, title) in tables.items():
        own = {form: path for form, path in paths.items() if form.startswith(f"{name}_")}
        write_table(table, own, title=title)


def chosen_by_fold(choices: Sequence[pa.Table]) -> dict[str, list[str]]:
    """Method to the settings that validation chose, one per fold, from the artifacts ``choices`` of the folds."""
    settings: dict[str, list[str]] = {}
    for row in (row for table in choices for row in table.to_pylist()):
        if row["chosen"]:
            settings.setdefault(row["method"], []).append(row["setting"])
    return settings


def markdown(table: pa.Table, *, digits: int = 4) -> str:
    """``table`` in Markdown."""
    return _markdown(table, digits, "")


def _cells(table: pa.Table, digits: int) -> _Rows:
    """Values as texts, row by row."""
    columns = [_column(name, table.column(i).to_pylist(), digits) for i, name in enumerate(table.column_names)]
    return [list(row) for row in zip(*columns, strict=True)]


def _column(name: str, values: Sequence[Any], digits: int) -> list[str]:
    numbers = [value for value in values if isinstance(value, float) and isfinite(value)]
    # Values of 0 and 1 alone may as well be measures.
    whole = all(value.is_integer() for value in numbers) and any(abs(value) > 1 for value in numbers)
    shown = _p_value if _P_VALUES.match(name) else _whole if whole else partial(_number, digits=digits)
    return [_shown(value, shown) for value in values]


def _shown(value: Any, number: Callable[[float], str]) -> str:
    if value is None or value != value:
        return ""
    return number(value) if isinstance(value, float) else str(value)


def _p_value(value: float) -> str:
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _number(value: float, digits: int) -> str:
    hidden = value != 0 and abs(value) < 0.5 * 10.0**-digits
    return f"{value:.1e}" if hidden else f"{value:.{digits}f}"


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
    marks = ["---:" if is_number(field) else "---" for field in table.schema]
    rows = [table.column_names, marks, *_cells(table, digits)]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def _latex(table: pa.Table, digits: int, _title: str) -> str:
    columns = "".join("r" if is_number(field) else "l" for field in table.schema)
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


_FORMS: dict[str, Callable[[pa.Table, int, str], str]] = {
    ".csv": _csv,
    ".md": _markdown,
    ".tex": _latex,
}
