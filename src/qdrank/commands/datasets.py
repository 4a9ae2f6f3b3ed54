"""The command ``qdrank datasets``: which data sets there are, which are present, and how to get the rest."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from qdrank.commands.output import aligned
from qdrank.datasets.fetching.presence import available, instruction, mirror_root, status
from qdrank.datasets.sources import Dataset, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="show this data set in full")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--mirror", type=Path, help="folder with copies of the data (default: QDRANK_MIRROR)")
    parser.add_argument("--downloads", type=Path, help="folder of the downloads (default: resources/downloads)")


def run(args: argparse.Namespace) -> int:
    """Print the list, or one data set; return the exit code."""
    datasets = load()
    chosen = [datasets[args.name]] if args.name is not None else list(datasets.values())
    mirror = mirror_root(args.mirror)
    if args.json:
        rows = [_described(dataset, mirror, args.downloads) for dataset in chosen]
        print(json.dumps(rows[0] if args.name is not None else rows, indent=2, ensure_ascii=False))
    elif args.name is not None:
        print(_full(chosen[0], mirror, args.downloads))
    else:
        print(_table(chosen, mirror, args.downloads))
    return 0


def _described(dataset: Dataset, mirror: Path | None, downloads: Path | None) -> dict[str, Any]:
    """One data set as JSON: the row of the table, and where its files are."""
    state = available(dataset, mirror=mirror, downloads=downloads)
    places = status(dataset, mirror=mirror, downloads=downloads)
    found = {name: place and {"kind": place.kind, "path": str(place.path)} for name, place in places.items()}
    return {
        **dataset.model_dump(mode="json", exclude={"files"}),
        "present": state.present,
        "downloadable": state.downloadable,
        "reason": state.reason,
        "files": [{**file.model_dump(mode="json"), "found": found[file.name]} for file in dataset.files],
    }


def _table(datasets: list[Dataset], mirror: Path | None, downloads: Path | None) -> str:
    heads, rows = ("name", "kind", "queries", "documents", "features", "state"), list[tuple[str, ...]]()
    for dataset in datasets:
        counts = (_count(n) for n in (dataset.n_queries, dataset.n_documents, dataset.n_features))
        state = available(dataset, mirror=mirror, downloads=downloads)
        rows.append((dataset.name, dataset.kind, *counts, state.reason))
    note = "`qdrank datasets NAME` explains how to get one; the mirror is " + (str(mirror) if mirror else "not set")
    return "\n".join([*aligned(heads, rows, words=(0, 1, 5)), "", note + " (QDRANK_MIRROR)."])


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _full(dataset: Dataset, mirror: Path | None, downloads: Path | None) -> str:
    """Everything about one data set."""
    lines = [f"{dataset.name}: {dataset.title}", ""]
    lines += [f"{key:<18} {value}" for key, value in _facts(dataset).items() if value]
    lines += ["", f"{'state':<18} {available(dataset, mirror=mirror, downloads=downloads).reason}"]
    for name, place in status(dataset, mirror=mirror, downloads=downloads).items():
        optional = " (optional)" if dataset.file(name).optional else ""
        lines.append(f"  {name:<40} {f'{place.kind}: {place.path}' if place else 'absent'}{optional}")
    return "\n".join([*lines, "", "how to get it", "         " + instruction(dataset, downloads)])


def _facts(dataset: Dataset) -> dict[str, str]:
    return {
        "kind": dataset.kind,
        "note": dataset.note,
        "queries": _count(dataset.n_queries),
        "documents": _count(dataset.n_documents),
        "features": _count(dataset.n_features),
        "grades": f"0 to {dataset.max_label}",
        "reference feature": _count(dataset.reference_feature),
        "missing values": ", ".join(dataset.missing),
        "folds": dataset.folds,
        "publisher": dataset.publisher,
        "licence": dataset.licence,
        "cite": dataset.citation,
        "page": dataset.page or "",
    }
