"""A collection by name, from its folder to the artifacts of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from qdrank.datasets.collections import COLLECTIONS
from qdrank.datasets.collections.model import Collection, Note
from qdrank.text.analyser import Analyser
from qdrank.text.bm25 import BM25
from qdrank.text.constants import OHSUMED, Constants
from qdrank.text.judged import TextSettings, write_judged_text

SMART = ("cranfield", "cisi", "medline", "adi")


def read_collection(like: str, folder: str | Path) -> Collection:
    """Read a collection: one of the registry's by name, or any in BEIR form."""
    if like in SMART:
        found: Collection = COLLECTIONS["smart"](Path(folder), like)
    elif like == "nfcorpus":
        found = COLLECTIONS["nfcorpus"](Path(folder))
    else:
        found = COLLECTIONS[like](Path(folder))
    return found


def text_settings(options: Mapping[str, Any], seed: int) -> TextSettings:
    """Settings of the text room from the section ``text`` of a configuration."""
    return TextSettings(
        analyser=Analyser(stemmer=options["stemmer"], stop_words=options["stop_words"]),
        bm25=BM25(variant=options["variant"], k1=options["k1"], b=options["b"]),
        constants=OHSUMED if options["constants"] == "ohsumed" else Constants(),
        n_top=options["candidates"],
        judged=options["judged"],
        groups=tuple(options["features"]),
        folds=5 if options["folds"] == "rotation" else None,
        seed=seed,
        lsa=options["lsa"],
    )


def extract_features(
    out: Mapping[str, str | Path], *, like: str, folder: str | Path, seed: int, **options: Any
) -> tuple[Note, ...]:
    """Write ``judged``, ``columns`` and ``topics`` of the collection in ``folder``; give what was noticed."""
    return write_judged_text(out, read_collection(like, folder), text_settings(options, seed))


def notes_table(settings: Mapping[str, Any], notes: Sequence[Note]) -> pa.Table:
    """What decided the features, and what was noticed in the data."""
    rows = [{"what": f"setting {name}", "value": _words(value)} for name, value in settings.items()]
    rows += [
        {"what": f"note: {note.kind}", "value": f"{note.count} (for instance {', '.join(note.examples)})"}
        for note in notes
    ]
    return pa.Table.from_pylist(rows)


def _words(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
