"""A table in five formats from one set of numbers: Parquet to compute with, CSV, Markdown, LaTeX and HTML to read.

The page fits a window of 1,400 pixels, and details that few readers need are folded away. A table of many columns and few
rows is turned: what were columns are rows. In a narrow window the table alone scrolls sideways, beside the names of its rows.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.store import table_of, write, write_text

if TYPE_CHECKING:
    import pandas as pd

#: More columns than this have smaller letters, and the smallest, or are turned; a cell with more letters than this may have several lines.
_MANY, _MOST, LONG = 10, 22, 14
_VERDICTS = {HOLDS: "holds", FAILS: "fails", UNCLEAR: "open"}

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title><style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 1.5em; color: #222 }}
table {{ border-collapse: collapse }}
th, td {{ padding: .3em .7em; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; white-space: nowrap }}
th {{ border-bottom: 2px solid #444; position: sticky; top: 0; background: #fff; white-space: normal; vertical-align: bottom }}
table.many {{ font-size: 12px }}
table.many th, table.many td {{ padding: .25em .4em }}
table.most {{ font-size: 10.5px }}
table.most th, table.most td {{ padding: .2em .2em }}
table.most td:first-child {{ position: sticky; left: 0; background: #fff }}
td.n, th.n {{ text-align: right; font-variant-numeric: tabular-nums }}
tr:hover td {{ background: #f4f7fb }}
td.w {{ white-space: normal; min-width: 7em; max-width: 38em; overflow-wrap: break-word }}
td.holds {{ background: #d3efe4 }} td.fails {{ background: #fbdccd }} td.open {{ background: #ececec }}
details {{ white-space: normal; max-width: 30em }}
summary {{ cursor: pointer; color: #0b5c8f }}
table.turned th:not(:first-child), table.turned td:not(:first-child) {{ min-width: 5em }}
@media (max-width: 760px) {{
  body {{ margin: .8em }} h1 {{ font-size: 20px }}
  .scroll {{ overflow-x: auto }}
  th {{ position: static }}
  th:first-child, td:first-child {{ position: sticky; left: 0; background: #fff; max-width: 9em; min-width: 0; white-space: normal; overflow-wrap: break-word }}
}}
dl {{ margin: .3em 0 }} dt {{ color: #666 }} dd {{ margin: 0 0 .3em }}
</style></head><body>
<h1>{title}</h1>
{said}<div class=scroll><table{many}><thead><tr>{head}</tr></thead><tbody>
{body}</tbody></table></div>
</body></html>
"""


def table_page(
    table: pa.Table, cells: Sequence[Sequence[str]], title: str, folded: Collection[str] = (), said: str = ""
) -> str:
    """The page of ``table``, whose values are shown as ``cells``; columns in ``folded`` are in a last cell that opens.

    ``said`` is a paragraph under the title.
    """
    above = f"<p>{html.escape(said)}</p>\n" if said else ""
    names = table.column_names
    kinds = ["n" if is_number(field) else "" for field in table.schema]
    shown = [i for i, name in enumerate(names) if name not in folded]
    hidden = [i for i, name in enumerate(names) if name in folded]
    if len(shown) > _MOST and not hidden and 2 * len(cells) < len(shown):
        return _turned(names, cells, kinds, title, above)
    head = "".join(_tag("th", _breakable(names[i]), kinds[i]) for i in shown) + ("<th></th>" if hidden else "")
    rows = []
    for row in cells:
        text = "".join(_cell(row[i], kinds[i]) for i in shown)
        rows.append(f"<tr>{text}{_fold(names, row, hidden) if hidden else ''}</tr>\n")
    many = " class=most" if len(shown) > _MOST else " class=many" if len(shown) > _MANY else ""
    return _PAGE.format(title=html.escape(title), said=above, head=head, body="".join(rows), many=many)


def _turned(names: Sequence[str], cells: Sequence[Sequence[str]], kinds: Sequence[str], title: str, above: str) -> str:
    """The page of a table of many columns and few rows: one row for each column."""
    first = [row[0] for row in cells]
    head = _tag("th", _breakable(names[0]), "") + "".join(_tag("th", html.escape(text), "n") for text in first)
    rows = []
    for i in range(1, len(names)):
        # Marks after numbers make a column text; what begins with a digit is aligned like a number.
        texts = [row[i] for row in cells]
        kind = kinds[i] or ("n" if all(text[:1].isdigit() for text in texts) else "")
        rows.append(f"<tr>{_tag('td', _breakable(names[i]), '')}{''.join(_cell(text, kind) for text in texts)}</tr>\n")
    many = " class='turned many'" if len(cells) > _MANY else " class=turned"
    return _PAGE.format(title=html.escape(title), said=above, head=head, body="".join(rows), many=many)


def is_number(field: pa.Field) -> bool:
    """Whether a column holds numbers."""
    return bool(pa.types.is_floating(field.type) or pa.types.is_integer(field.type))


def _cell(text: str, kind: str) -> str:
    return _tag("td", html.escape(text), kind or _VERDICTS.get(text, "w" if len(text) > LONG else ""))


def _tag(tag: str, content: str, kind: str) -> str:
    return f"<{tag}{f' class={kind}' if kind else ''}>{content}</{tag}>"


def _breakable(name: str) -> str:
    """The name of a column, with line breaks allowed at its joints, such as the slash before a convention."""
    text = html.escape(name)
    for joint in ("/", "@", "-", "_"):
        text = text.replace(joint, f"{joint}<wbr>")
    return text


def _fold(names: Sequence[str], row: Sequence[str], hidden: Sequence[int]) -> str:
    items = "".join(f"<dt>{html.escape(names[i])}</dt><dd>{html.escape(row[i])}</dd>" for i in hidden if row[i])
    return f"<td><details><summary>why</summary><dl>{items}</dl></details></td>"


_Rows = list[list[str]]

#: Names of columns of p-values: "p", "p (Holm)", "p, corrected"; not "p@5/letor4".
_P_VALUES = re.compile(r"p($|, | \()")


def write_table(
    table: pa.Table | pd.DataFrame,
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
    table = table_of(table)
    for path in map(Path, paths.values()):
        if path.suffix == ".parquet":
            write(path, "table", table)
        elif path.suffix == ".html":
            write_text(path, table_page(table, _cells(table, digits), title, folded, said))
        else:
            write_text(path, _FORMS[path.suffix](table, digits, title))


def write_tables(tables: Mapping[str, tuple[pa.Table | pd.DataFrame, str]], paths: Mapping[str, str | Path]) -> None:
    """Write tables with their titles; the names of the paths of one begin with its name and an underscore."""
    for name, (table, title) in tables.items():
        forms = {form: path for form, path in paths.items() if form.startswith(f"{name}_")}
        write_table(table, forms, title=title)


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
    shown = p_value if _P_VALUES.match(name) else "{:.0f}".format if whole else partial(_number, digits=digits)
    return [_shown(value, shown) for value in values]


def _shown(value: Any, number: Callable[[float], str]) -> str:
    if value is None or value != value:
        return ""
    return number(value) if isinstance(value, float) else str(value)


def p_value(value: float) -> str:
    """A p-value to four digits; never 0."""
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


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


_FORMS: dict[str, Callable[[pa.Table, int, str], str]] = {".csv": _csv, ".md": _markdown, ".tex": _latex}
