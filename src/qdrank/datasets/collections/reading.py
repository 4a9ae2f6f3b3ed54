"""A collection by name and folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from qdrank.datasets.collections import COLLECTIONS
from qdrank.datasets.collections.model import Collection, with_sources
from qdrank.datasets.collections.smart import FORMS, SmartForm


def read_collection(
    like: str,
    folder: str | Path = "",
    *,
    files: Mapping[str, Any] | None = None,
    form: Mapping[str, Any] | None = None,
    sources: Mapping[str, Any] | None = None,
) -> Collection:
    """Read a collection.

    Parameters
    ----------
    like : one of the registry's by name, or a form: beir, irds, smart, trec
    folder : of the files of a registered collection, of one in BEIR form, or of ir_datasets
    files, form : of the user's own collection in SMART or TREC form: its files, and how they are written; for ir_datasets the id
    sources : which queries are of one source (`qdrank.datasets.origins.sources_of`), where folds keep them together
    """
    if files is not None and like == "smart":
        documents = tuple(files["documents"])
        collection: Collection = COLLECTIONS["smart"](
            Path(), SmartForm(**{**files, "documents": documents}, **(form or {}))
        )
    elif files is not None:
        collection = COLLECTIONS[like](**files, **(form or {}))
    elif like in FORMS:
        collection = COLLECTIONS["smart"](Path(folder), like)
    else:
        collection = COLLECTIONS[like](Path(folder), **(form or {}))
    return with_sources(collection, sources) if sources else collection
