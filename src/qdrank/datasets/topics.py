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
    columns: NDArray[Any] | None = None,
    run_scores: NDArray[np.float64] | None = None,
) -> pa.Table:
    """The artifact ``topics``: what is not known of the queries is null, or of width 0.

    ``run_scores`` has the mean and deviation of each run's scores, (n_queries, 2 n_runs), where the data are runs.
    """
    n = len(query_id)
    unknown: list[None] = [None] * n
    texts = {"query_id": query_id, "part": part, "text": text or unknown, "type": types or unknown}
    lists = {"query_columns": np.zeros((n, 0)) if columns is None else columns}
    lists |= {} if run_scores is None else {"run_scores": run_scores}
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in texts.items()}
        | {
            name: pa.array(np.asarray(rows, np.float64).tolist(), pa.list_(pa.float64()))
            for name, rows in lists.items()
        }
    )
