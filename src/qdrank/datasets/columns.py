"""What is known of the numbered features of a data set (the artifact ``columns``) and of its queries (``topics``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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


def topics_table(
    query_id: Sequence[str] | NDArray[Any],
    part: Sequence[str] | NDArray[Any],
    *,
    text: Sequence[str | None] | None = None,
    types: Sequence[str | None] | None = None,
    columns: NDArray[Any] | None = None,
    run_scores: NDArray[np.float64] | None = None,
    source: Sequence[str | None] | None = None,
) -> pa.Table:
    """The artifact ``topics``: what is not known of the queries is null, or of width 0.

    ``run_scores`` has the mean and deviation of each run's scores, (n_queries, 2 n_runs), where the data are runs; ``source``
    those queries that folds keep together have in common, where they do.
    """
    n = len(query_id)
    unknown: list[None] = [None] * n
    texts = {"query_id": query_id, "part": part, "text": text or unknown, "type": types or unknown}
    texts |= {} if source is None else {"source": source}
    lists = {"query_columns": np.zeros((n, 0)) if columns is None else columns}
    lists |= {} if run_scores is None else {"run_scores": run_scores}
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in texts.items()}
        | {
            name: pa.array(np.asarray(rows, np.float64).tolist(), pa.list_(pa.float64()))
            for name, rows in lists.items()
        }
    )
