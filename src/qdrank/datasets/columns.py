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
        problem = f"feature {reference + 1} cannot be the reference: there are {len(names)} features"
        raise InputError(problem, fix=f"give the number of the feature that ranks like BM25, 1 to {len(names)}")
    numbers = np.arange(1, len(names) + 1, dtype=np.int32)
    return pa.table({"number": numbers, "name": list(names), "reference": numbers == reference + 1})


def reference_column(path: str | os.PathLike[str]) -> int:
    """Column of the reference feature, counted from 0, in the artifact ``columns``."""
    return int(np.argmax(read(path, "columns").column("reference").to_numpy(zero_copy_only=False)))


def feature_names(n_features: int, names: Sequence[str] | None = None) -> list[str]:
    """Names of the features of a file: those given, one for each, or those of LETOR."""
    if names is None:
        return letor_names(n_features)
    if len(names) != n_features:
        fix = "give one name for each feature, in their order"
        raise InputError(f"{len(names)} names for {n_features} features", found=", ".join(names), fix=fix)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError("two features have the same name", found=twice, fix="give each feature a name of its own")
    return list(names)


def letor_names(n_features: int) -> list[str]:
    """Names of the features of a LETOR file: those of LETOR 4.0 if there are 46, else their numbers."""
    if n_features != 46:
        return [f"feature {i + 1}" for i in range(n_features)]
    counts = [f"{kind} {stream}" for kind, stream in product(("TF", "IDF", "TF*IDF", "length"), _LETOR4_STREAMS)]
    models = [
        f"{model} {stream}" for stream, model in product(_LETOR4_STREAMS, ("BM25", "LMIR.ABS", "LMIR.DIR", "LMIR.JM"))
    ]
    return [*counts, *models, *_LETOR4_WEB]
