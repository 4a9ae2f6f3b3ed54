"""The artifact ``topics``: what is known of the queries themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def topics_table(
    query_id: Sequence[str] | NDArray[Any],
    part: Sequence[str] | NDArray[Any],
    *,
    text: Sequence[str | None] | None = None,
    types: Sequence[str | None] | None = None,
    columns: NDArray[np.float32] | None = None,
) -> pa.Table:
    """The artifact ``topics``: what is not known of the queries is null, or of width 0."""
    n = len(query_id)
    unknown: list[None] = [None] * n
    numbers: Any = np.zeros((n, 0)) if columns is None else columns
    texts = {"query_id": query_id, "part": part, "text": text or unknown, "type": types or unknown}
    lists = pa.array(np.asarray(numbers, dtype=np.float64).tolist(), pa.list_(pa.float64()))
    return pa.table({name: pa.array(values, pa.string()) for name, values in texts.items()} | {"query_columns": lists})
