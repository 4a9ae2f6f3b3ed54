"""The page, from what was run, the verdicts, the figures and the maps of the queries."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import pyarrow as pa

from qdrank.datasets.collections.model import READ
from qdrank.evaluation.declared import CHECK, CONTROL, FINDING, UNCLEAR
from qdrank.figures.verdicts import STARRED, expected_errors, star
from qdrank.measures import NDCG_IN_WORDS
from qdrank.measures.names import entry_of, parse
from qdrank.pages.best import best_methods
from qdrank.pages.findings import CLASSES, SIGNS, WORDS, detail, number, sentences, tally
from qdrank.pages.queries import colours, explored, specification
from qdrank.registry import needed
from qdrank.store import read, write_text

Described = Mapping[str, Any]
"""A study, a data set or a figure as the workflow describes it: see `write_index` in workflow/rules/report.smk."""

#: Claims of one verdict that are shown before the rest is folded away; letters of a data set's title beside a claim.
FEW, LETTERS = 5, 26
PURPOSES = {FINDING: "claims of the papers", CONTROL: "controls", CHECK: "checks"}


def asset(name: str) -> str:
    """A file of the page: its template, style or script."""
    return resources.files("qdrank.pages").joinpath("assets", name).read_text(encoding="utf-8")


def index_page(
    run: Described,
    verdicts: pa.Table,
    figures: Mapping[tuple[str, str], str | Path],
    maps: Mapping[str, Any],
    bundle: str,
    *,
    methods: Mapping[str, Sequence[Described]],
    summaries: Mapping[str, Sequence[Described]],
    notes: Mapping[str, Sequence[Described]],
) -> str:
    """The page, as HTML.

    Parameters
    ----------
    run : data sets, studies, and what was left out, as the workflow describes them
    verdicts : the artifact ``verdicts``
    figures : where each figure is, by data set and id
    maps : data of the map of each data set (`qdrank.pages.queries.explored`)
    bundle : the script of the library that draws the maps
    methods, summaries : rows of the tables of all methods, and of what the data hold, by data set
    notes : rows of the notes on each data set made of text
    """
    rows = verdicts.to_pylist()
    names = {called: known["title"] for called, known in run["columns"].items()}
    embedded = [packed(f"map-{name}", compact(map_)) for name, map_ in maps.items()]
    embedded += [
        packed(f"figure-{name}-{key}", Path(path).read_text(encoding="utf-8")) for (name, key), path in figures.items()
    ]
    counted = {
        name: known | {"counts": _counted(*(table.get(name, ()) for table in (summaries, methods, notes)))}
        for name, known in run["datasets"].items()
    }
    parts = {
        "style": asset("page.css"),
        "best": best_methods(counted, methods, run["first_stages"]),
        "conventions": "<br>".join(escape(f"{name}: {words}") for name, words in NDCG_IN_WORDS.items()),
        "datasets": _datasets(run),
        "left_out": _left_out(run["left_out"]) + _not_run(run["studies"]),
        "findings": "".join(
            _findings(study, rows, {name: _short(name, title) for name, title in names.items()}, figures)
            for study in run["studies"]
        ),
        "starred": escape(STARRED) if any(map(star, rows)) else "",
        "errors": escape(expected_errors(verdicts)),
        "filters": _filters([study for study in run["studies"] if study["datasets"]]),
        "matrix": _matrix(run, rows, names),
        "studies": "".join(map(_study, run["studies"])),
        "chosen": _options(maps, {name: known["title"] for name, known in run["datasets"].items()}),
        "data": embedded_json("page-data", _data(run, rows)) + "".join(embedded) + packed("bundle", bundle),
        "script": asset("page.js") + asset("map.js"),
    }
    return Template(asset("page.html")).substitute(parts)


def write_index(
    files: Mapping[str, Any],
    path: str,
    *,
    run: Described,
    datasets: Sequence[str],
    texts: Sequence[str],
    figures: Sequence[tuple[str, str]],
    assets: str,  # noqa: ARG001
) -> None:
    """Write the page of a run; of ``datasets`` it shows maps and tables, of ``texts`` the notes, too.

    ``assets`` is the digest of the files that are put into it: a job whose params change runs again.
    """
    maps = {name: explored(read(file, "map")) for name, file in zip(datasets, files["maps"], strict=True)}
    shown = {"methods": datasets, "summaries": datasets, "notes": texts}
    tables = {
        what: {name: read(file, "table").to_pylist() for name, file in zip(names, files[what], strict=True)}
        for what, names in shown.items()
    }
    pictures = {(name, id_): file for (name, id_), file in zip(figures, files["figures"], strict=True)}
    bundle = needed("vl_convert", "workflow").javascript_bundle()
    write_text(path, index_page(run, read(files["claims"], "verdicts"), pictures, maps, bundle, **tables))


def _counted(summary: Sequence[Described], methods: Sequence[Described], notes: Sequence[Described]) -> dict[str, int]:
    """Queries, those of them that are tested, documents to rank; documents and judgments of a collection, as they were read."""
    counts = {"tested": methods[0]["queries"]} if methods else {}
    for row in summary:
        if row["part"] == "all":
            counts |= {"queries": row["queries"], "pairs": row["documents"]}
    read = {row["what"]: row["value"] for row in notes}
    for what in ("collection", "judgments"):
        if READ[what] in read:  # "1,400 (published: 1,400)"
            counts[what] = int(read[READ[what]].partition(" ")[0].replace(",", ""))
    return counts


def _data(run: Described, rows: Sequence[Described]) -> dict[str, Any]:
    """What the scripts of the page need."""
    figures = {figure["id"]: figure for study in run["studies"] for figure in study["figures"]}
    return {
        "verdicts": [_clicked(run, row) for row in rows],
        "figures": {key: figure["label"] for key, figure in figures.items()},
        "methods": run["methods"],
        "studies": [{key: study[key] for key in ("paper", "methods", "against")} for study in run["studies"]],
        "spec": specification(),
        "colours": colours(),
    }


def _clicked(run: Described, row: Described) -> dict[str, Any]:
    """What a click on the cell of a verdict shows."""
    known = run["columns"].get(row["dataset"], {"title": row["dataset"], "name": ""})
    study = next(study for study in run["studies"] if study["name"] == row["study"])
    pictured = [
        figure["id"]
        for figure in study["figures"]
        if known["name"] in figure["datasets"] and any(fnmatchcase(row["claim"], p) for p in figure["claims"])
    ]
    return {
        "paper": row["paper"],
        "text": row["text"],
        "dataset": known["title"],
        "verdict": WORDS[row["verdict"]],
        "kind": CLASSES[row["verdict"]],
        "detail": detail(row),
        "figure": [known["name"], pictured[0]] if pictured else None,
        "table": f"{known['name']}/tables/{study['claims']}.html" if known["name"] else "claims.html",
    }


def _datasets(run: Described) -> str:
    rows = "".join(
        f"<tr><td><b>{escape(known['title'])}</b>"
        + (f"<br><small>{escape(known['note'])}</small>" if known["note"] else "")
        + f"</td><td>{escape(name)}</td>"
        f"<td>{escape(known['kind'])}</td><td class=n>{len(known['folds'])}</td>"
        f'<td><a href="{escape(name)}/tables/data-summary.html">summary</a></td></tr>\n'
        for name, known in run["datasets"].items()
    )
    return f'<div class="scroll datasets"><table><tr><th>data set<th>name<th>kind<th class=n>folds<th></tr>\n{rows}</table></div>'


def _left_out(left_out: Mapping[str, str]) -> str:
    if not left_out:
        return ""
    items = "".join(f"<li>{escape(name)}: {escape(reason)}</li>" for name, reason in left_out.items())
    return f"<p>In the configuration, but not available here:</p><ul>{items}</ul>"


def _not_run(studies: Sequence[Described]) -> str:
    """Studies without a data set, by the reason."""
    reasons = {False: "The key <code>studies</code> leaves out", True: "No data set of this run is for"}
    idle = {
        reason: [escape(study["paper"]) for study in studies if not study["datasets"] and study["wanted"] == wanted]
        for wanted, reason in reasons.items()
    }
    said = " ".join(f"{reason} {', '.join(papers)}." for reason, papers in idle.items() if papers)
    return f"<p>{said}</p>" if said else ""


def _findings(
    study: Described, rows: Sequence[Described], names: Mapping[str, str], figures: Mapping[tuple[str, str], str | Path]
) -> str:
    of_study = [row for row in rows if row["study"] == study["name"]]
    if not of_study:
        return ""
    measures = [parse(name) for name in dict.fromkeys(row["measure"] for row in of_study) if entry_of(name)]
    named = ", ".join(f"{one.title}/{one.convention}".rstrip("/") for one in measures)
    said = f"{study['idea']} {tally(of_study)}" + (f" Measured in {named}." if named else "")
    text = f"<section class=paper><h3>{escape(study['paper'])}</h3><p>{escape(said)}</p>"
    text += _headline(study, figures)
    for verdict, claims in sentences(of_study, names):
        if claims:
            opened = "" if verdict == UNCLEAR else " open"
            head = f"{SIGNS[verdict]} {WORDS[verdict]}: {len(claims)} of the claims"
            text += f"<details{opened} class={CLASSES[verdict]}><summary>{head}</summary>{_claims(claims)}</details>"
    return text + "</section>\n"


def _headline(study: Described, figures: Mapping[tuple[str, str], str | Path]) -> str:
    """The figure of a study that shows its result best, on its first data set.

    It is in the page as it is, not packed: people look here first, and a printer or a picture of the page does not wait.
    """
    figure = next((one for one in study["figures"] if one["id"] == study["headline"]), None)
    name = next(iter(figure["datasets"]), "") if figure else ""
    if figure is None or (name, figure["id"]) not in figures:
        return ""
    label = f"{figure['label']}, {study['datasets'][name]}"
    drawn = base64.b64encode(Path(figures[name, figure["id"]]).read_bytes()).decode()
    return (
        f'<figure><img src="data:image/svg+xml;base64,{drawn}" alt="{escape(label)}">'
        f'<figcaption>{escape(label)}. <a href="#{escape(study["name"])}">All figures</a></figcaption></figure>'
    )


def _claims(claims: Sequence[tuple[str, str]]) -> str:
    """Claims with their data sets; all but the first few fold away."""
    items = [f"<li>{escape(claim)}: <span>{escape(places)}</span></li>" for claim, places in claims]
    first, more = "".join(items[:FEW]), "".join(items[FEW:])
    rest = f"<details class=more><summary>{len(items) - FEW} more</summary><ul>{more}</ul></details>" if more else ""
    return f"<ul>{first}</ul>{rest}"


def _filters(studies: Sequence[Described]) -> str:
    papers = "".join(f'<option value="{escape(study["name"])}">{escape(study["paper"])}</option>' for study in studies)
    purposes = "".join(
        f'<label><input type=checkbox data-purpose="{purpose}"{" checked" if purpose == FINDING else ""}> {escape(text)}</label>'
        for purpose, text in PURPOSES.items()
    )
    return f"<label>paper <select id=paper><option value=''>all</option>{papers}</select></label>{purposes}"


def _matrix(run: Described, rows: Sequence[Described], names: Mapping[str, str]) -> str:
    """Claims by data sets; the scripts of the page show and hide rows, and answer clicks."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    titles = {name: names.get(name, name) for name in datasets}
    head = "".join(f'<th scope=col title="{escape(t)}">{escape(_short(name, t))}</th>' for name, t in titles.items())
    lines = []
    for study in run["studies"]:
        of_study = [(i, row) for i, row in enumerate(rows) if row["study"] == study["name"]]
        claims = dict.fromkeys((row["claim"], row["text"], row["purpose"], row["unit"]) for _, row in of_study)
        if claims:
            lines.append(
                f'<tr class=head data-study="{escape(study["name"])}"><th colspan={len(datasets) + 1}>{escape(study["paper"])}</th></tr>'
            )
        for claim, text, purpose, unit in claims:
            cells = {
                row["dataset"]: _cell(i, row) for i, row in of_study if (row["claim"], row["text"]) == (claim, text)
            }
            about = f"<small>{escape(unit)}</small>" if unit else ""
            lines.append(
                f'<tr data-study="{escape(study["name"])}" data-purpose="{purpose}"><th scope=row>{escape(text)} {about}</th>'
                + "".join(cells.get(name, "<td></td>") for name in datasets)
                + "</tr>"
            )
    return (
        f"<table id=matrix><thead><tr><th>claim</th>{head}</tr></thead><tbody>\n{chr(10).join(lines)}\n</tbody></table>"
    )


def _short(name: str, title: str) -> str:
    """The title of a data set, or its name where the title is long."""
    return title if len(title) <= LETTERS else name


def _cell(i: int, row: Described) -> str:
    value = row["effect"]
    effect = "" if value is None else "≈ 0" if 0 < abs(value) < 0.0005 else number(value, signed=True)
    only = " (these worlds only)" if star(row) else ""
    title = f"{WORDS[row['verdict']]}: {row['text']}, {row['dataset']}{only}"
    return (
        f'<td><button class={CLASSES[row["verdict"]]} data-verdict={i} title="{escape(title)}">'
        f"<b>{SIGNS[row['verdict']]}</b> {effect}{star(row)}</button></td>"
    )


def _study(study: Described) -> str:
    """Figures of a study beside what the paper showed, and links to its tables."""
    if not study["datasets"]:
        return ""
    options = _options(study["datasets"], study["datasets"])
    figures = "".join(_figure(study, figure) for figure in study["figures"] if figure["datasets"])
    name = escape(study["name"])
    return (
        f'<section class=study id="{name}"><h3>{escape(study["paper"])}</h3><p>{escape(study["idea"])}</p>'
        f"<label class=pick>data set <select data-study-of={name}>{options}</select></label>{figures}"
        f"<p class=tables data-tables-of={name}>Tables: {_tables(study)}</p></section>\n"
    )


def _figure(study: Described, figure: Described) -> str:
    first, key = figure["datasets"][0], escape(figure["id"])
    forms = " ".join(
        f'<a data-file="figures/{key}.{form}" href="{escape(first)}/figures/{key}.{form}">{form}</a>'
        for form in study["forms"]
    )
    return (
        f"<div class=row{_only(study, figure)}><div class=said><h4>{escape(figure['label'])}</h4><p>{escape(figure['said'])}</p>"
        f"<p class=links>{forms}</p></div>"
        f'<img data-study="{escape(study["name"])}" data-id="{key}" data-dataset="{escape(first)}" alt="{escape(figure["label"])}"></div>'
    )


def _tables(study: Described) -> str:
    return "".join(
        f'<span{_only(study, table)}><a data-file="tables/{escape(table["id"])}.html" '
        f'href="{escape(table["datasets"][0])}/tables/{escape(table["id"])}.html">{escape(table["label"])}</a></span>'
        for table in study["tables"]
        if table["datasets"]
    )


def _only(study: Described, output: Described) -> str:
    """Attributes of an output that some data sets of the study lack: the page hides it while one of them is chosen."""
    if list(output["datasets"]) == list(study["datasets"]):
        return ""
    hidden = "" if next(iter(study["datasets"])) in output["datasets"] else " hidden"
    return f' data-only="{escape(" ".join(output["datasets"]))}"{hidden}'


def _options(names: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    return "".join(f'<option value="{escape(name)}">{escape(titles[name])}</option>' for name in names)


def packed(name: str, content: str) -> str:
    """``content`` as an element with the id ``name``, for ``unpack(name)`` in page.js.

    Arrow's gzip is part of the locked environment; that of the interpreter is the machine's, and its bytes may differ.
    """
    squeezed: bytes = pa.Codec("gzip", compression_level=9).compress(content.encode(), asbytes=True)
    return f'<script type="text/plain" id="{escape(name)}">{base64.b64encode(squeezed).decode()}</script>\n'


def compact(value: Any) -> str:
    """``value`` as JSON in the fewest characters, in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def embedded_json(name: str, value: Any) -> str:
    """``value`` as JSON in an element with the id ``name``, safe inside a page."""
    text = compact(value).replace("<", "\\u003c")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>\n'
