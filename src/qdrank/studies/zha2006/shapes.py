"""Shapes of the artifacts of this study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from qdrank.store import read, write
from qdrank.store.schemas import ArtifactKind, Shape

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


def gather_tables(files: Mapping[str, Any], out: Mapping[str, str], fold: str) -> None:  # noqa: ARG001
    """Write the tables of all regressors, and of what they are set against, of a fold as one of each shape."""
    shapes: dict[str, ArtifactKind] = {
        "cells": CELLS_SHAPE,
        "maps": MAPS_SHAPE,
        "objectives": OBJECTIVES_SHAPE,
        "choices": "choices",
    }
    for name, shape in shapes.items():
        paths = [files[name]] if isinstance(files[name], str) else files[name]
        write(out[name], shape, pa.concat_tables([read(path, shape) for path in paths], promote_options="default"))
