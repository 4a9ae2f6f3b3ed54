"""Shapes of the artifacts of this study."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import Shape, Vector

_TEXT, _NUMBER = pa.string(), pa.float64()

# Weights of rankers: one row per method, query and gamma. Weights that all queries share have role train and no query.
ENSEMBLES_SHAPE = Shape(
    "ensembles",
    {
        "method": _TEXT,
        "role": _TEXT,
        "query_id": _TEXT,
        "gamma": _NUMBER,
        "objective": _NUMBER,
        "gap": _NUMBER,
        "kkt": _NUMBER,
        "steps": pa.int32(),
        "weights": Vector(_NUMBER),
    },
)
