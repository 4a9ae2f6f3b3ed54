"""Average precision of many rankers at once (numba), without sorting: relevant documents are few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

#: Documents from which on looking up every document among the relevant ones pays.
_LONG = 500


@njit(cache=True)
def _long_list(s: Any, relevant: Any) -> float:
    """The same for a long list, in which each document is looked up among the relevant ones, sorted."""
    places = np.flatnonzero(relevant)
    if len(places) == 0:
        return 0.0
    order = np.argsort(-s[places], kind="mergesort")  # stable: the earlier of equal scores comes first
    best, at = s[places][order], places[order]
    ahead = np.zeros(len(places) + 1, dtype=np.int64)
    for b in range(len(s)):
        low, high = 0, len(places)
        while low < high:
            middle = (low + high) // 2
            if best[middle] > s[b] or (best[middle] == s[b] and at[middle] < b):
                low = middle + 1
            else:
                high = middle
        ahead[low] += 1
    precision, rank = np.zeros(len(places)), 0
    for hit in range(len(places)):
        rank += ahead[hit]
        precision[order[hit]] = (hit + 1) / rank
    total = 0.0
    for value in precision:  # in the order of the documents, as in short lists
        total += value
    return total / len(places)


@njit(cache=True)
def _one_query(s: Any, relevant: Any) -> float:
    """Average precision of one list; among equal scores the earlier document comes first."""
    if len(s) > _LONG:
        return _long_list(s, relevant)
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
