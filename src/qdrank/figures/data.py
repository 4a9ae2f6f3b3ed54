"""A data set is imported, and said what it holds: what was noticed while it was read, and the first table of every study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged, load_judged
from qdrank.figures.tables import write_table
from qdrank.layout import IntArray


def data_summary(judged: Judged, published: Mapping[str, int] | None = None) -> pa.Table:
    """Queries, documents, grades and preference pairs: one row per part, one for all parts, and one as published, if known.

    Of ``published``, ``pairs`` are the documents of all queries, ``queries`` the queries.
    """
    grades = int(judged.y.max(initial=0)) + 1
    rows = [_summary(part, judged.select([part]), grades) for part in sorted(judged.parts, key=_order)]
    rows.append(_summary("all", judged, grades))
    if published:
        rows.append({"part": "published", "queries": published.get("queries"), "documents": published.get("pairs")})
    return pa.Table.from_pylist(rows)


def notes_table(notes: Sequence[tuple[str, str]]) -> pa.Table:
    """What was noticed while the data were read: what it is, and the value in words."""
    return pa.table({"what": [what for what, _ in notes], "value": [value for _, value in notes]})


def write_summary(
    files: Mapping[str, str], out: Mapping[str, str], *, title: str, published: Mapping[str, int] | None
) -> None:
    """Write the table of what a data set holds."""
    write_table(data_summary(load_judged(files["judged"], ["features"]), published), out, digits=1, title=title)


def _order(part: str) -> tuple[int, str]:
    """Training before validation before testing; numbered parts by their numbers."""
    fixed = ("train", "vali", "dev", "test")
    return (fixed.index(part) if part in fixed else len(fixed), part)


def _summary(part: str, documents: Judged, grades: int) -> dict[str, str | int | float | None]:
    sizes = np.diff(documents.offsets)
    counts = np.bincount(documents.y, minlength=grades)
    by_query = np.zeros((documents.n_queries, grades), dtype=np.int64)
    np.add.at(by_query, (documents.query_index, documents.y), 1)
    relevant = by_query[:, 1:].sum(axis=1)
    return {
        "part": part,
        "queries": documents.n_queries,
        "without relevant": int((relevant == 0).sum()),
        "documents": documents.n_documents,
        "per query": float(sizes.mean()) if len(sizes) else 0.0,
        "fewest": int(sizes.min()) if len(sizes) else 0,
        "most": int(sizes.max(initial=0)),
        "features": documents.X.shape[1],
        **{f"grade {grade}": int(counts[grade]) for grade in range(grades)},
        "pairs": int(documents.pairs.sum()),
        **_retrieved(documents, counts),
    }


def _retrieved(documents: Judged, counts: IntArray) -> dict[str, int]:
    """Relevant documents that are judged, and those that are not among the candidates; nothing for feature data."""
    if documents.unranked is None:
        return {}
    missed = len(documents.unranked[0])
    return {"relevant": int(counts[1:].sum()) + missed, "relevant, not among the candidates": missed}


def import_dataset(
    dataset: str,
    inputs: Sequence[str],
    out: Mapping[str, str],
    *,
    files: Mapping[str, str],
    options: Mapping[str, Any],
    title: str,
    seed: int,
    log: Callable[..., None],
) -> None:
    """Write the artifacts of a data set, and the table of notes to the other paths of ``out``; log the notes.

    ``files`` are the user's own, by part; for a registered data set they are in the listing that fetching it left, the only one of ``inputs``.
    ``options`` has ``like: runs`` for runs and judgments.
    """
    from qdrank.datasets.importing import fetched_parts, import_features  # slow to load, and not needed for the summary
    from qdrank.datasets.runs.dataset import import_runs

    made = {name: out[name] for name in ("judged", "columns", "topics")}
    reading = {name: value for name, value in options.items() if name != "like"}
    read = import_runs if options.get("like") == "runs" else import_features
    notes = read(files or fetched_parts(dataset, inputs[0]), made, seed=seed, **reading)
    for note in notes:  # not to the terminal, where a panel shows the progress
        log("%s: %s", *note)
    paths = {form: path for form, path in out.items() if form not in made}
    write_table(notes_table(notes), paths, title=f"{title}: what was read")
