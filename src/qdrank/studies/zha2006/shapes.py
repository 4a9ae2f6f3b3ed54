"""Shapes of the artifacts of this study."""

from __future__ import annotations

import pyarrow as pa

from qdrank.store.schemas import Shape

_TEXT, _NUMBER = pa.string(), pa.float64()

_FIT = {"fold": _TEXT, "role": _TEXT, "h": _TEXT, "kind": _TEXT, "lam_alpha": _NUMBER, "lam_beta": _NUMBER}

# Values of the test queries, one row per fit; an infinite penalty fixes alpha at 1 or beta at 0.
CELLS_SHAPE = Shape("zha_cells", {**_FIT, "query_id": _TEXT, "value": _NUMBER})
# Maps of queries, and their values without and with them; whether the query has documents of different grades.
MAPS_SHAPE = Shape(
    "zha_maps",
    {
        **_FIT,
        "query_id": _TEXT,
        "alpha": _NUMBER,
        "beta": _NUMBER,
        "plain": _NUMBER,
        "value": _NUMBER,
        "varied": pa.bool_(),
    },
)
OBJECTIVES_SHAPE = Shape(
    "zha_objectives", {"fold": _TEXT, "h": _TEXT, "norm": _TEXT, "form": _TEXT, "step": pa.int32(), "value": _NUMBER}
)
