"""Shapes of the artifacts of this study."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import NUMBERS, Shape, Vector

_TEXT, _NUMBER = pa.string(), pa.float64()

# Clusters of documents or of queries: one row per scheme of clusterings, seed, number of clusters and cluster. The
# centres of an empty cluster are NaN; counts go with queries.
CLUSTERS_SHAPE = Shape(
    "clusters",
    {
        "scheme": _TEXT,
        "seed": pa.int32(),
        "m": pa.int32(),
        "cluster": pa.int32(),
        "items": pa.int64(),
        "centre": NUMBERS,
        "queries": pa.list_(pa.field("item", _TEXT, nullable=False)),
        "counts": pa.list_(pa.field("item", pa.int32(), nullable=False)),
    },
)
# Linear models of clusters, and whether each is the global model because its cluster has no pairs.
CLUSTER_MODELS_SHAPE = Shape(
    "cluster_models",
    {
        "scheme": _TEXT,
        "seed": pa.int32(),
        "m": pa.int32(),
        "cluster": pa.int32(),
        "trained_on": _TEXT,
        "lam": _NUMBER,
        "pairs": pa.int64(),
        "fallback": pa.bool_(),
        "gap": _NUMBER,
        "iterations": pa.int32(),
        "weights": Vector(_NUMBER),
    },
)
