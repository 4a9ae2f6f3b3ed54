"""A text collection becomes judged documents with features; a table says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.collections.model import READ, Note
from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.figures.tables import write_table
from qdrank.measures.compute import measure
from qdrank.store import read
from qdrank.text.extract import extract_features
from qdrank.text.rank_features import FIRST_STAGE


def write_text_features(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    *,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    title: str,
    published: Mapping[str, int],
    seed: int,
    query_vectors: bool = False,
    log: Callable[..., None],
) -> None:
    """Write the artifacts of a collection, and the table of settings and notes to the other paths of ``out``.

    ``options`` name the collection, ``settings`` are the section ``text`` of the configuration, ``published`` counts stand beside
    what was read. ``files`` may have the artifact ``vectors``, ``query_vectors`` as in `extract_features`.
    """
    made = {name: out[name] for name in ("judged", "columns", "topics")}
    vectors = files.get("vectors")
    notes = extract_features(made, options, seed=seed, vectors=vectors, query_vectors=query_vectors, **settings)
    for note in notes:
        log("%s", note)
    reference = reference_column(made["columns"])
    name = read(made["columns"], "columns").column("name")[reference].as_py()
    maps = reference_maps(load_judged(made["judged"], ["features"]), reference, name)
    paths = {form: path for form, path in out.items() if form not in made}
    write_table(notes_table(settings, notes, maps, published), paths, title=f"{title}: how text became features")


def reference_maps(judged: Judged, reference: int, name: str) -> dict[str, float]:
    """MAP of the reference feature, whose ``name`` is given, over all relevant documents and over those among the candidates.

    It is the first stage's score only where that is a feature.
    """
    which = (
        "the first stage" if name == FIRST_STAGE else f"the reference feature {name}, which is not the first stage's,"
    )
    scores = judged.X[:, reference].astype(np.float64)
    ways: dict[str, Any] = {"over all relevant documents": judged.unranked} if judged.unranked is not None else {}
    ways |= {"over the relevant documents among the candidates": None}
    return {
        f"MAP of {which} {way}": float(
            measure(["ap"], judged.y, scores, judged.offsets, unranked=unranked)["ap"].mean()
        )
        for way, unranked in ways.items()
    }


def notes_table(
    settings: Mapping[str, Any], notes: Sequence[Note], maps: Mapping[str, float], published: Mapping[str, int]
) -> pa.Table:
    """What was read, how well the reference ranks, what decided the features, and what was noticed in the data."""
    known = {READ[what]: f" (published: {count:,})" for what, count in published.items() if what in READ}
    rows = [
        {"what": note.kind, "value": f"{note.count:,}{known.get(note.kind, '')}"} for note in notes if not note.examples
    ]
    rows += [{"what": what, "value": f"{value:.4f}"} for what, value in maps.items()]
    rows += [{"what": f"setting {name}", "value": _words(value)} for name, value in settings.items()]
    rows += [
        {"what": f"note: {note.kind}", "value": f"{note.count} (for instance {', '.join(note.examples)})"}
        for note in notes
        if note.examples
    ]
    return pa.Table.from_pylist(rows)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {_words(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
