"""Documents grouped by query as padded rows, so that NumPy ranks and sums many queries at once.

``offsets`` (n_queries + 1,) are the bounds of the queries. Sums run over the ranks in order, so that a value depends on
nothing but its query. Queries of like length share a block, which bounds both memory and padding.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from qdrank.layout import FloatArray, IntArray

_CELLS = 1 << 15
"""Places of a block, so that what is made of them stays in the cache."""


def blocks(offsets: IntArray, depth: int | None = None) -> Iterator[tuple[IntArray, IntArray, NDArray[np.bool_]]]:
    """Queries (n,), the rows (n, width) of their first ``depth`` documents (without it all), and which of these exist.

    Beyond the end of its list a query has its last row. Queries without documents are in no block.
    """
    sizes = np.diff(offsets)
    order = np.argsort(-sizes, kind="stable")
    widths = sizes[order] if depth is None else np.minimum(sizes[order], depth)
    start, end = 0, int(np.count_nonzero(widths))
    while start < end:
        width = int(widths[start])
        alike = int(np.searchsorted(-widths, -(width // 2), side="left"))
        stop = min(end, max(alike, start + 1), start + max(1, _CELLS // width))
        queries, place = order[start:stop], np.arange(width)
        exists = place < sizes[queries, None]
        yield queries, offsets[queries, None] + np.minimum(place, sizes[queries, None] - 1), exists
        start = stop


def ranked_rows(scores: FloatArray, offsets: IntArray) -> IntArray:
    """Row numbers by descending score within each query, ties in row order, shape (n_documents,)."""
    ranked = np.empty(len(scores), dtype=np.int64)
    for queries, rows, exists in blocks(offsets):
        order = np.argsort(np.where(exists, -scores[rows], np.inf), axis=1, kind="stable")
        ranked[rows[exists]] = (offsets[queries, None] + order)[exists]
    return ranked


def ranks(offsets: IntArray) -> IntArray:
    """Place within its query, from 1, of each document, shape (n_documents,)."""
    places: IntArray = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    return places


def sums_at(values: FloatArray, offsets: IntArray, cutoffs: IntArray, discount: FloatArray | None = None) -> FloatArray:
    """Sums of the values (n_documents,), times the discounts of their ranks, up to each ascending cutoff, (n_queries, n_cutoffs).

    A list that is shorter than a cutoff is used whole.
    """
    sums = np.zeros((len(offsets) - 1, len(cutoffs)))
    for queries, rows, exists in blocks(offsets, int(cutoffs[-1])):
        terms = np.where(exists, values[rows], 0.0)
        if discount is not None:
            terms *= discount[: terms.shape[1]]
        sums[queries] = np.cumsum(terms, axis=1)[:, np.minimum(cutoffs, terms.shape[1]) - 1]
    return sums
