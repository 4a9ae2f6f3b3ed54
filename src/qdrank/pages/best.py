"""Which ranker is best on each data set, and what its lead is worth: its methods in a table that is a picture too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.figures.methods import BETTER, LEAD, MARGIN, REASON
from qdrank.measures import NDCG_IN_WORDS
from qdrank.pages.findings import interval, number

Row = Mapping[str, Any]

#: Methods shown before the rest is folded away; data sets that are open when the page opens.
SHOWN, OPEN = 10, 3
#: The mark of a method that is not shown to be behind the best, and what is said of the best and the second.
NEAR = "≈"
_SAID = {
    HOLDS: "The first is better",
    FAILS: f"The first is not better by {MARGIN:g}",
    UNCLEAR: "Whether the first is better, the data cannot tell",
}


def best_methods(
    datasets: Mapping[str, Mapping[str, Any]], methods: Mapping[str, Sequence[Row]], first: Sequence[str]
) -> str:
    """A block for each data set of ``methods`` (rows of `methods_table`).

    ``datasets`` has their titles and counts, ``first`` names the first stages, which every block shows.
    """
    blocks = []
    for place, (name, rows) in enumerate(methods.items()):
        title, opened = escape(datasets[name]["title"]), " open" if place < OPEN else ""
        blocks.append(
            f"<details class=best{opened}><summary>{title}</summary><p>{escape(_answer(rows))}</p>"
            f"<p class=hint>{escape(_counts(datasets[name]))}. {escape(_convention(rows))}</p>{_table(name, rows, first)}</details>\n"
        )
    return "".join(blocks)


def _answer(rows: Sequence[Row]) -> str:
    """The best method, the second and the verdict between them, and how many others may be the best."""
    said = [f"{row['label']}, {row['MAP']:.3f}" for row in rows[:2]]
    if len(rows) < 2:
        return f"Highest MAP: {said[0]}."
    second = rows[1]
    ends = interval({end: second[f"{LEAD}, {end}"] for end in ("low", "high")} | {"level": None})
    lead = ", ".join(filter(None, (number(second[LEAD], signed=True), ends)))
    near = sum(map(_near, rows))
    others = (
        f"{near} of {len(rows) - 1} others, marked {NEAR}, cannot be told from it" if near else "All others are behind"
    )
    return f"Highest MAP: {said[0]}; second: {said[1]}. {_SAID[second[BETTER]]} ({lead}): {second[REASON]}. {others}."


def _near(row: Row) -> bool:
    return row[BETTER] in (FAILS, UNCLEAR)


def _measures(row: Row) -> list[str]:
    return [name for name in row if f"{name}, low" in row and name != LEAD]


def _convention(rows: Sequence[Row]) -> str:
    """The convention of NDCG in words."""
    name = _measures(rows[0])[-1]
    return f"{name}: {NDCG_IN_WORDS[name.partition('/')[2]]}."


def _counts(known: Mapping[str, Any]) -> str:
    """Queries, documents and judgments of a data set as read, beside the published numbers where there are any."""
    parts = []
    for what, words in (
        ("queries", "queries"),
        ("tested", "of them tested"),
        ("pairs", "documents to rank"),
        ("collection", "documents in the collection"),
        ("judgments", "judgments"),
    ):
        if (count := known.get("counts", {}).get(what)) is not None:
            published = known.get("published", {}).get(what)
            parts.append(f"{count:,} {words}" + (f" (published: {published:,})" if published else ""))
    return ", ".join(parts)


def _table(name: str, rows: Sequence[Row], first: Sequence[str]) -> str:
    shown = [row for place, row in enumerate(rows) if place < SHOWN or row["method"] in first]
    hidden = [row for row in rows if row not in shown]
    scales = {measure: _scale(shown, measure) for measure in _measures(rows[0])}
    head = "".join(f"<th colspan=2>{escape(measure)}</th>" for measure in scales)
    lines = "".join(_line(row, scales, row["method"] in first) for row in shown)
    rest = "".join(_line(row, scales, False) for row in hidden)
    more = f"<tbody class=rest hidden>{rest}</tbody>" if rest else ""
    button = f"<button class=more-methods>show {len(hidden)} more</button> " if rest else ""
    return (
        f"<div class=scroll><table class=ranked><thead><tr><th>method</th>{head}</tr></thead><tbody>{lines}</tbody>{more}</table></div>"
        f'<p class=links>{button}<a href="{escape(name)}/tables/methods.html">all numbers</a> '
        f'<a href="{escape(name)}/tables/data-summary.html">what the data hold</a></p>'
    )


def _scale(rows: Sequence[Row], measure: str) -> tuple[float, float]:
    """Least and greatest value of a measure, its intervals included."""
    values = [
        row[key] for row in rows for key in (measure, f"{measure}, low", f"{measure}, high") if row[key] is not None
    ]
    return min(values), max(values)


def _line(row: Row, scales: Mapping[str, tuple[float, float]], is_first_stage: bool) -> str:
    cells = "".join(
        f"<td class=n>{row[measure]:.3f}</td><td>{_dot(row, measure, scale)}</td>" for measure, scale in scales.items()
    )
    kind = " class=stage" if is_first_stage else ""
    near = f' <abbr title="{escape(row[REASON])}">{NEAR}</abbr>' if _near(row) else ""
    return f"<tr{kind}><th scope=row>{escape(row['label'])}{near}</th>{cells}</tr>\n"


def _dot(row: Row, measure: str, scale: tuple[float, float]) -> str:
    """A mean as a dot, its interval as a line, between the ends of the scale."""

    def at(value: float) -> str:
        low, high = scale
        place = (value - low) / (high - low) if high > low else 0.5
        return f"{4 + 92 * min(max(place, 0), 1):.1f}%"  # methods that are folded away may lie beyond the scale

    value, low, high = (row[key] for key in (measure, f"{measure}, low", f"{measure}, high"))
    line = "" if low is None else f'<line x1="{at(low)}" x2="{at(high)}" y1="8" y2="8"/>'
    said = f"{value:.3f}" if low is None else f"{value:.3f}, {low:.3f} to {high:.3f}"
    return f'<svg role=img aria-label="{said}"><title>{said}</title>{line}<circle cx="{at(value)}" cy="8" r="4"/></svg>'
