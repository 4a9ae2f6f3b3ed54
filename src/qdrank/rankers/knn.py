"""Which training queries a test query learns from, and which ready model serves it (Geng 2008, section 3).

KNN Online trains on the k nearest training queries of the test query. The offline methods train one model on the
neighbourhood of every training query in advance and choose one of these for the test query: Offline-1 the one whose
training set shares most with that of KNN Online (eq. 1), Offline-2 the one of the nearest training query.

Everything here is about sets of queries; sizes are counted in document pairs, the instances of Ranking SVM. A set is
a row of neighbours, nearest first, so that one matrix of neighbours for the largest k serves all smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import refuse_unknown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Alikeness = Literal["shared_pairs", "shared_queries", "smallest_gamma"]
"""What makes two neighbourhoods alike."""
ALIKE: tuple[Alikeness, ...] = ("shared_pairs", "shared_queries", "smallest_gamma")
Rows = NDArray[np.int32]

#: Numbers in one block of overlaps, 64 MiB.
_BLOCK = 2**23
#: If a neighbourhood has at least this share of the training queries, a dense product is faster than a sparse one,
_DENSE_SHARE = 0.2
#: unless there are more training queries than this.
_DENSE_MOST = 10_000


def offline1(
    test: Rows, train: Rows, pairs: IntArray, ks: Iterable[int], *, alike: Alikeness = "shared_pairs"
) -> dict[int, IntArray]:
    """Choose for every test query the training query whose neighbourhood is most like its own (eq. 1).

    Parameters
    ----------
    test : (n_test, k_max) neighbours of the test queries, nearest first
    train : (m, k_max) neighbours of the training queries, each its own first
    pairs : (m,) document pairs of the training queries, see :func:`qdrank.layout.pair_counts`
    ks : ints; sizes of the neighbourhoods
    alike : {"shared_pairs", "shared_queries", "smallest_gamma"}
        What makes neighbourhoods alike: most shared pairs (the paper), most shared queries, or the smallest change
        ratio, which unlike the first does not favour neighbourhoods that are rich in pairs.

    Returns
    -------
    dict of k to array of shape (n_test,)
        Rows of the training queries. Ties go to the one nearer to the test query (its place among the test query's
        neighbours; those beyond k_max tie), then to the lower row.
    """
    return {
        k: Neighbourhoods(_first(train, k), pairs, alike).most_alike(_first(test, k), lambda rows: test[rows])
        for k in ks
    }


def offline2(test: Rows) -> IntArray:
    """Nearest training query of every test query, shape (n_test,): the same for every k."""
    return test[:, 0].astype(np.int64)


def change_ratios(test: Rows, train: Rows, pairs: IntArray, chosen: dict[int, IntArray]) -> dict[int, FloatArray]:
    """Change ratio gamma of every test query, for every k: how far the chosen training set is from the query's own.

    gamma = (p1 + p2 - 2 shared) / min(p1, p2), in document pairs (section 3.3.4). For two empty sets gamma is 0; for an
    empty and a non-empty one it is infinite.

    Returns a dictionary of k to an array of shape (n_test,).

    Parameters
    ----------
    test, train, pairs : as in :func:`offline1`
    chosen : dict of k to array of shape (n_test,); training query whose model serves each test query
    """
    return {k: _gamma_of(_first(test, k), _first(train, k)[rows], pairs) for k, rows in chosen.items()}


def random_neighbours(queries: Iterable[str], m: int, k: int, seed: int) -> Rows:
    """Random training queries instead of neighbours: the control that shows whether nearness matters.

    The draw of a query depends on its id and the seed alone, not on the queries around it; the first k' of its k are
    the draw for k'.

    Returns an array of shape (n_queries, k).
    """
    if k > m:
        raise InputError(f"{k} neighbours were asked for, but there are only {m} training queries")
    draws = [_query_rng(query, seed).permutation(m)[:k] for query in queries]
    return np.array(draws, dtype=np.int32).reshape(-1, k)


def _query_rng(query: str, seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, *str(query).encode()])


def _first(rows: Rows, k: int) -> Rows:
    if not 1 <= k <= rows.shape[1]:
        raise InputError(f"{k} neighbours were asked for, but only {rows.shape[1]} are stored")
    return rows[:, :k]


def _gamma_of(ours: Rows, theirs: Rows, pairs: IntArray) -> FloatArray:
    """Change ratio between two sets of training queries, row by row."""
    mine, other = _membership(ours, len(pairs)), _membership(theirs, len(pairs))
    shared = (mine * other) @ pairs
    return gamma(pairs[ours].sum(axis=1), pairs[theirs].sum(axis=1), shared)


def gamma(p1: IntArray, p2: IntArray, shared: IntArray) -> FloatArray:
    """Change ratio of sets with ``p1`` and ``p2`` pairs, of which they share ``shared`` (section 3.3.4)."""
    change = np.asarray(p1 + p2 - 2 * shared, dtype=np.float64)
    smaller = np.broadcast_to(np.minimum(p1, p2), change.shape)
    ratio = np.where(change > 0, np.inf, 0.0)
    np.divide(change, smaller, out=ratio, where=smaller > 0)
    return ratio


def _membership(rows: Rows, m: int) -> csr_array:
    """Indicator matrix of sets of training queries, shape (n_sets, m)."""
    from scipy.sparse import csr_array

    n, k = rows.shape
    return csr_array((np.ones(n * k, dtype=np.int64), rows.ravel(), np.arange(n + 1) * k), shape=(n, m))


class Neighbourhoods:
    """Neighbourhoods of the training queries, (m, k), prepared for comparison with those of others; parameters as for `offline1`."""

    def __init__(self, train: Rows, pairs: IntArray, alike: Alikeness = "shared_pairs") -> None:
        refuse_unknown("similarity", alike, ALIKE)
        self._alike = alike
        self._size = np.ones(len(pairs), dtype=np.int64) if alike == "shared_queries" else pairs
        self._totals = self._size[train].sum(axis=1)
        self._overlaps = _overlaps(train, self._size)

    def most_alike(self, ours: Rows, nearest: Callable[[IntArray], Rows]) -> IntArray:
        """The training query that serves each of the queries with the neighbours ``ours`` (n, k); shape (n,).

        ``nearest`` gives the neighbours, nearest first and as many as there are, of those queries for which several tie.
        """
        step = max(1, _BLOCK // len(self._size))
        chosen = np.empty(len(ours), dtype=np.int64)
        for a in range(0, len(ours), step):
            rows = ours[a : a + step]
            score = self._overlaps(rows)
            if self._alike == "smallest_gamma":
                score = -gamma(self._size[rows].sum(axis=1)[:, None], self._totals, score)
            chosen[a : a + step] = score.argmax(axis=1)
            tied = np.flatnonzero((score == score.max(axis=1, keepdims=True)).sum(axis=1) > 1)
            if len(tied):
                chosen[a + tied] = _best(score[tied], nearest(a + tied))
        return chosen


def _overlaps(theirs: Rows, size: IntArray) -> Callable[[Rows], NDArray[Any]]:
    """Overlap of given sets with each of ``theirs``: I_test diag(size) I_train^T, shape (n_sets, m).

    The sizes are whole numbers, so both ways are exact, whatever the order of summation.
    """
    m, k = len(size), theirs.shape[1]
    members = _membership(theirs, m).T.multiply(size[:, None]).tocsr()
    if k < _DENSE_SHARE * m or m > _DENSE_MOST:
        return lambda ours: np.asarray((_membership(ours, m) @ members).toarray())
    largest = int(np.sort(size)[-k:].sum())
    dense = members.toarray().astype(np.float32 if largest < 2**24 else np.float64)
    return lambda ours: np.asarray(_membership(ours, m).toarray().astype(dense.dtype) @ dense)


def _best(score: NDArray[Any], test: Rows) -> IntArray:
    """Column of the largest score in each row; ties to the nearer training query, then the lower row."""
    tied = score == score.max(axis=1, keepdims=True)
    place = np.full(score.shape, test.shape[1], dtype=np.int32)
    np.put_along_axis(place, test.astype(np.int64), np.arange(test.shape[1], dtype=np.int32)[None, :], axis=1)
    place[~tied] = test.shape[1] + 1
    best: IntArray = place.argmin(axis=1)
    return best
