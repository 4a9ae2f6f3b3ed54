"""Average precision of many rankers at once (numba), without sorting: relevant documents are few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def _one_query(s: Any, relevant: Any) -> float:
    """Average precision of one list; among equal scores the earlier document comes first."""
    total, count = 0.0, 0
    for a in range(len(s)):
        if not relevant[a]:
            continue
        count += 1
        rank, hits = 1, 1
        for b in range(a):
            before = s[b] >= s[a]
            rank += before
            hits += before & relevant[b]
        for b in range(a + 1, len(s)):
            before = s[b] > s[a]
            rank += before
            hits += before & relevant[b]
        total += hits / rank
    return total / count if count else 0.0


@njit(cache=True)
def ap_matrix(S: NDArray[Any], relevant: NDArray[Any], offsets: NDArray[Any]) -> NDArray[Any]:
    """Average precision (n_rankers, n_queries) of scores ``S`` (n_rankers, n_documents).

    ``relevant`` is (n_documents,) bool; a query without a relevant document has 0.
    """
    values = np.zeros((len(S), len(offsets) - 1))
    for i in range(len(S)):
        for q in range(len(offsets) - 1):
            start, end = offsets[q], offsets[q + 1]
            values[i, q] = _one_query(S[i, start:end], relevant[start:end])
    return values
