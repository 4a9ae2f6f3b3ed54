"""The run as the first page and the summary tables need to know it."""

from __future__ import annotations

from typing import Any

from qdrank.datasets.sources import load
from qdrank.rankers import FIRST_STAGES
from qdrank.studies.study import Output, Study
from qdrank.workflow.plan import PlannedDataset
from qdrank.workflow.run import ALL_STUDIES, WorkflowRun


def representatives(run: WorkflowRun, study: Study | None = None) -> list[str]:
    """Data sets that the page shows, for one study or for all; of the seeds of a simulated world only the first."""
    if study is not None:
        return list(run.claim_members(study))
    members_of = (members for each in ALL_STUDIES for members in run.claim_members(each).values())
    further = {name for members in members_of for name in members[1:]}
    return [name for name in run.planned.datasets if name not in further]


def pictured(run: WorkflowRun) -> list[tuple[str, str]]:
    """Data set and id of every figure that the page shows."""
    return [
        (name, id_)
        for study in ALL_STUDIES
        for figure in study.figures
        for id_ in figure.shows
        for name in _made_for(run, study, figure)
    ]


def _made_for(run: WorkflowRun, study: Study, output: Output) -> list[str]:
    """Data sets of the page for which an output of a study is made."""
    return [name for name in representatives(run, study) if run.is_searched(name) or not output.of_search]


def pictured_texts(run: WorkflowRun) -> list[str]:
    """Data sets of the page that are made of text, whose notes say how many documents were read."""
    return [name for name in representatives(run) if name in run.planned.of_kind("text")]


def labels_and_colours(run: WorkflowRun) -> tuple[dict[str, str], dict[str, str]]:
    """Label and colour of every method of every study, and labels of the classic methods, which belong to no study."""
    pairs = [(study, method) for study in ALL_STUDIES for method in study.methods]
    labels = {method.name: f"{method.label} ({study.paper.split()[0]})" for study, method in pairs}
    return {**labels, **_classic_labels(run)}, {method.name: method.colour for _, method in pairs}


def _classic_labels(run: WorkflowRun) -> dict[str, str]:
    return {**{name: method.label for name, method in run.classic.items()}, **FIRST_STAGES}


def described_datasets(run: WorkflowRun) -> dict[str, dict[str, Any]]:
    """Title, kind, folds and note of every data set, and of registered ones the published counts."""
    return {
        name: {
            "title": dataset.title,
            "kind": dataset.kind,
            "folds": list(dataset.folds),
            "note": dataset.note,
            "published": published_counts(dataset),
        }
        for name, dataset in run.planned.datasets.items()
    }


def published_counts(dataset: PlannedDataset) -> dict[str, int]:
    """Queries, documents and judgments of a registered data set by its publisher; of text, documents are those of the collection."""
    if not dataset.registered or dataset.kind == "simulated":
        return {}
    entry = load()[dataset.name]
    counts = {"queries": entry.n_queries, "collection" if dataset.kind == "text" else "pairs": entry.n_documents}
    counts |= {"judgments": entry.n_judgments}
    return {what: count for what, count in counts.items() if count is not None}


def described_run(run: WorkflowRun) -> dict[str, Any]:
    """Data sets, studies, methods, and the columns of the page's matrix."""
    return {
        "datasets": described_datasets(run),
        "left_out": dict(run.planned.left_out),
        "columns": {called: {"name": name, "title": title} for name, called, title in _columns(run)},
        "methods": _classic_labels(run),
        "first_stages": list(FIRST_STAGES),
        "studies": [_described_study(run, study) for study in ALL_STUDIES],
    }


def claim_titles(run: WorkflowRun) -> dict[str, str]:
    """Titles of data sets, and of seeds of one, by the names in the verdicts."""
    return {called: title for _, called, title in _columns(run)}


def _columns(run: WorkflowRun) -> list[tuple[str, str, str]]:
    """Name of each data set or of the seeds of one world, what the verdicts call it, and its title."""
    columns = []
    for study in ALL_STUDIES:
        for name, members in run.claim_members(study).items():
            seeds = f" ({len(members)} seeds)" if len(members) > 1 else ""
            columns.append((name, f"{name}{seeds}", f"{run.planned.datasets[name].title}{seeds}"))
    return columns


def _described_study(run: WorkflowRun, study: Study) -> dict[str, Any]:
    figures = [
        {
            "id": figure.id,
            "label": figure.shows[figure.id],
            "said": figure.said,
            "claims": list(figure.claims),
            "datasets": _made_for(run, study, figure),
        }
        for figure in study.figures
    ]
    tables = (output for output in (*study.tables, study.observations) if output)
    return {
        "name": study.name,
        "short": study.short,
        "wanted": run.settings.wants(study),
        "paper": study.paper,
        "idea": study.idea,
        "against": study.against,
        "headline": study.headline or (study.figures[0].id if study.figures else ""),
        "methods": {method.name: method.label for method in study.methods},
        "datasets": {name: run.planned.datasets[name].title for name in representatives(run, study)},
        "figures": figures,
        "tables": [
            {"id": id_, "label": label, "datasets": _made_for(run, study, output)}
            for output in tables
            for id_, label in output.shows.items()
        ],
        "claims": study.observations.id if study.observations else "",
        "forms": list(dict.fromkeys(["svg", *run.settings.figures.formats])),
    }
