"""What the numbered features of a data set are called, and which of them is the reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product

import numpy as np
import pyarrow as pa

from qdrank.errors import InputError
from qdrank.store import read

_LETOR4_STREAMS = ("body", "anchor", "title", "URL", "whole document")
_LETOR4_WEB = ("PageRank", "inlinks", "outlinks", "URL slashes", "URL length", "child pages")


def columns_table(names: Sequence[str], reference: int) -> pa.Table:
    """The artifact ``columns``; ``reference`` counts from 0."""
    if not 0 <= reference < len(names):
        raise InputError(f"feature {reference + 1} cannot be the reference: there are {len(names)} features")
    numbers = np.arange(1, len(names) + 1, dtype=np.int32)
    return pa.table({"number": numbers, "name": list(names), "reference": numbers == reference + 1})


def reference_column(path: str | os.PathLike[str]) -> int:
    """Column of the reference feature, counted from 0, in the artifact ``columns``."""
    return int(np.argmax(read(path, "columns").column("reference").to_numpy(zero_copy_only=False)))


def letor_names(n_features: int) -> list[str]:
    """Names of the features of a LETOR file: those of LETOR 4.0 if there are 46, else their numbers."""
    if n_features != 46:
        return [f"feature {i + 1}" for i in range(n_features)]
    counts = [f"{kind} {stream}" for kind, stream in product(("TF", "IDF", "TF*IDF", "length"), _LETOR4_STREAMS)]
    models = [
        f"{model} {stream}" for stream, model in product(_LETOR4_STREAMS, ("BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM"))
    ]
    return [*counts, *models, *_LETOR4_WEB]
