"""Shapes of the artifacts of this study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.store import read, write
from qdrank.store.schemas import ArtifactKind, Shape
from qdrank.studies.zha2006.methods import cell_kinds, map_kinds

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
# Trees of a fold grown without weights, and whether they have the setting that the plain regressor chose.
START_SHAPE = Shape(
    "zha_start",
    {"targets": _TEXT, "trees": pa.int32(), "learning_rate": _NUMBER, "leaves": pa.int32(), "min_leaf": pa.int32()}
    | {"seed": pa.int64(), "text": _TEXT, "chosen": pa.bool_()},
)


def gather_tables(files: Mapping[str, Any], out: Mapping[str, str], *, refits: int) -> None:
    """Write the tables of all regressors, and of what they are set against, of a fold as one of each shape.

    Rows are in the same order however the work was divided; with ``refits`` fits in all.
    """
    order = {"cells": cell_kinds(refits), "maps": map_kinds(refits)}
    shapes: dict[str, ArtifactKind] = {
        "cells": CELLS_SHAPE,
        "maps": MAPS_SHAPE,
        "objectives": OBJECTIVES_SHAPE,
        "choices": "choices",
    }
    for name, shape in shapes.items():
        paths = [files[name]] if isinstance(files[name], str) else files[name]
        table = pa.concat_tables([read(path, shape) for path in paths], promote_options="default")
        write(out[name], shape, in_order(table, order[name]) if name in order else table)


def in_order(table: pa.Table, kinds: Sequence[str]) -> pa.Table:
    """Rows by regressor, as these follow each other, then by kind; kinds that are not named come last, as they were."""
    regressor = table.column("h").combine_chunks().dictionary_encode().indices
    place = pc.fill_null(pc.index_in(table.column("kind"), value_set=pa.array(kinds, pa.string())), len(kinds))
    return table.take(np.lexsort((place.to_numpy(), regressor.to_numpy())))
