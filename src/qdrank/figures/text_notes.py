"""A text collection becomes judged documents with features; a table says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.figures.tables import write_table
from qdrank.store import read
from qdrank.text.extract import extract_features, notes_table, reference_maps


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
