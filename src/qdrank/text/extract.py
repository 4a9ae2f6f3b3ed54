"""A collection by name, from its folder to the artifacts of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.collections.model import READ, Note, read_counts
from qdrank.datasets.collections.reading import read_collection
from qdrank.datasets.importing import refuse_unusable
from qdrank.datasets.judged import Judged, load_judged
from qdrank.errors import placed
from qdrank.measures.compute import measure
from qdrank.text.analyser import Analyser
from qdrank.text.bm25 import BM25
from qdrank.text.encoder_vectors import load_vectors
from qdrank.text.judged import TextSettings, write_judged_text
from qdrank.text.models import OHSUMED, Constants
from qdrank.text.rank_features import FIRST_STAGE


def text_settings(options: Mapping[str, Any], seed: int, *, query_vectors: bool = False) -> TextSettings:
    """Settings of the text features from the section ``text`` of a configuration."""
    return TextSettings(
        analyser=Analyser(stemmer=options["stemmer"], stop_words=options["stop_words"]),
        bm25=BM25(variant=options["variant"], k1=options["k1"], b=options["b"]),
        constants=OHSUMED if options["constants"] == "ohsumed" else Constants(),
        n_top=options["candidates"],
        judged=options["judged"],
        feature_sets=tuple(options["features"]),
        folds=5 if options["folds"] == "rotation" else None,
        seed=seed,
        lsa=options["lsa"],
        query_vectors=query_vectors,
        relevant=options["relevant"],
    )


def extract_features(
    out: Mapping[str, str | Path],
    source: Mapping[str, Any],
    *,
    seed: int,
    vectors: str | None = None,
    query_vectors: bool = False,
    **options: Any,
) -> tuple[Note, ...]:
    """Write ``judged``, ``columns`` and ``topics`` of a collection; return the notes.

    ``source`` holds the arguments of `read_collection`; ``vectors`` is the artifact with an encoder's, which become features
    and, with ``query_vectors``, the columns of queries.
    """
    with placed(_judgments(source)):
        collection = read_collection(**source)
        settings = text_settings(options, seed, query_vectors=query_vectors)
        notes = write_judged_text(out, collection, settings, load_vectors(vectors) if vectors else None)
        judged = load_judged(out["judged"], [])
        refuse_unusable(judged)
    ranked = Note("candidates to rank, which tables call documents", judged.n_documents, (), "")
    return (*read_counts(collection), ranked, *notes)


def _judgments(source: Mapping[str, Any]) -> str:
    """Where the judgments of a collection are: their file or files, or the folder of all its files."""
    qrels = (source.get("files") or {}).get("qrels", source.get("folder", ""))
    return ", ".join(map(str, qrels.values())) if isinstance(qrels, Mapping) else str(qrels)


def reference_maps(judged: Judged, reference: int, name: str) -> dict[str, float]:
    """MAP of the reference feature, whose ``name`` is given, over all relevant documents and over those among the candidates.

    It is the first stage's score only where that is a feature (`text.features`).
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
