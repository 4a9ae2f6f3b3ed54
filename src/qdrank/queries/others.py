"""What another query has: the control of everything that is said to depend on the query."""

from __future__ import annotations

import numpy as np

from qdrank.layout import FloatArray


def other_rows(rows: FloatArray, seed: int) -> FloatArray:
    """Give each query the row of another one, along a random cycle through all queries; shape as given."""
    if len(rows) < 2:
        return rows
    circle = np.random.default_rng(seed).permutation(len(rows))
    others = np.empty_like(rows)
    others[circle] = rows[np.roll(circle, 1)]
    return others
