"""Shapes of the artifacts of this study."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import NUMBERS, Shape, Vector

_NUMBER = pa.float64()

# A cluster and its model at one lambda: one row per scheme of clusterings, seed, number of clusters, lambda and cluster. The
# centre of an empty cluster is NaN; a cluster without pairs has the global model (fallback); queries counts the training
# queries with an item in it. Where documents are clustered, divergence and precision are those of the model on each training
# query that belongs to it; where queries are, width is their median distance from their centres.
CLUSTERS_SHAPE = Shape(
    "clusters",
    {
        "scheme": pa.string(),
        "seed": pa.int32(),
        "m": pa.int32(),
        "lam": _NUMBER,
        "cluster": pa.int32(),
        "centre": NUMBERS,
        "queries": pa.int64(),
        "pairs": pa.int64(),
        "fallback": pa.bool_(),
        "gap": _NUMBER,
        "iterations": pa.int32(),
        "width": _NUMBER,
        "divergence": NUMBERS,
        "precision": NUMBERS,
        "weights": Vector(_NUMBER),
    },
)
