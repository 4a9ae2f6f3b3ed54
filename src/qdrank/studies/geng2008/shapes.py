"""Shapes of the artifacts of this study."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import Shape, Vector

_TEXT, _NUMBER = pa.string(), pa.float64()

# Training query whose ready model serves a query, and how far apart their training sets are.
OFFLINE_SHAPE = Shape(
    "offline", {"role": _TEXT, "method": _TEXT, "k": pa.int32(), "query_id": _TEXT, "model": _TEXT, "gamma": _NUMBER}
)
# Measures of the validation and test queries for every k and lambda that was tried.
SWEEP_SHAPE = Shape(
    "sweep",
    {"fold": _TEXT, "role": _TEXT, "method": _TEXT, "k": pa.int32(), "lam": _NUMBER, "query_id": _TEXT},
    open=True,
)
CLASSES_SHAPE = Shape(
    "classes",
    {"query_id": _TEXT, "role": _TEXT, "class": _TEXT, "guess": _TEXT, "guess_documents": _TEXT, "origin": _TEXT},
    nullable=frozenset({"class"}),
)
# Linear models of the neighbourhoods of queries: one row per kind of neighbourhood, query, k and lambda.
LOCAL_SHAPE = Shape(
    "local_models",
    {"neighbourhood": _TEXT, "role": _TEXT, "query_id": _TEXT, "k": pa.int32(), "lam": _NUMBER}
    | {"pairs": pa.int64(), "gap": _NUMBER, "iterations": pa.int32(), "weights": Vector(_NUMBER)},
)
