"""The stages of the coset-permutation model: distances of the candidates, likelihood, derivatives, inference.

At stage k (from 1) a list has k - 1 documents placed and every other document is a candidate. A candidate's coset
distance to an input ranking is the mean permutation distance over all ways to finish the list. What all candidates
of a stage share cancels, and this is left, with sigma the rank in the input and n the number of documents:

    Kendall's tau   number of the other candidates that the input ranks above this one (a tie counts 1/2)
    footrule        |sigma - k| - mean over j = k+1..n of |sigma - j|
    Spearman        (n + 1 - k) sigma
"""

from __future__ import annotations

import numpy as np
from numba import njit

from qdrank.layout import FloatArray, IntArray

KENDALL, FOOTRULE, SPEARMAN = 0, 1, 2


@njit(cache=True)
def footrule(sigma: float, k: int, n: int) -> float:
    """``|sigma - k| - mean over j = k+1..n of |sigma - j|``; the mean is 0 at the last stage."""
    away = abs(sigma - k)
    if k < n:
        # Places up to `cut` lie below sigma, the others above it.
        cut = min(max(np.floor(sigma), k), n)
        below, above = cut - k, n - cut
        total = below * sigma - below * (k + 1 + cut) / 2 + above * (cut + 1 + n) / 2 - above * sigma
        away -= total / (n - k)
    return away


@njit(cache=True)
def fill_distances(kind: int, ranks: FloatArray, k: int, Z: FloatArray) -> None:
    """Distances of the candidates ``k - 1 ..`` of ``ranks`` (n, n_lists) at stage ``k``, into ``Z``.

    For Kendall's tau ``Z`` must hold the distances of stage ``k - 1``, unless ``k`` is 1.
    """
    n, n_lists = ranks.shape
    if kind == SPEARMAN:
        Z[k - 1 :] = (n + 1 - k) * ranks[k - 1 :]
    elif kind == FOOTRULE:
        for o in range(k - 1, n):
            for m in range(n_lists):
                Z[o, m] = footrule(ranks[o, m], k, n)
    elif k == 1:
        Z[:] = ranks - 1.0
    else:
        placed = ranks[k - 2]
        for o in range(k - 1, n):
            for m in range(n_lists):
                Z[o, m] -= 0.5 * (ranks[o, m] > placed[m]) + 0.5 * (ranks[o, m] >= placed[m])


@njit(cache=True)
def log_likelihood(
    kind: int, ranks: FloatArray, depths: IntArray, offsets: IntArray, theta: FloatArray, curved: bool
) -> tuple[float, FloatArray, FloatArray]:
    """Sum over queries of the log probability of their first ``depths[q]`` rows in order, and its derivatives.

    Parameters
    ----------
    kind : KENDALL, FOOTRULE or SPEARMAN
    ranks : rank in each input ranking, shape (n_documents, n_lists), the documents of a query in their judged order
    curved : whether to compute second derivatives; if not, they are 0
    """
    n_lists = len(theta)
    value, gradient, hessian = 0.0, np.zeros(n_lists), np.zeros((n_lists, n_lists))
    for q in range(len(offsets) - 1):
        mine = ranks[offsets[q] : offsets[q + 1]]
        Z = np.empty_like(mine)
        for k in range(1, depths[q] + 1):
            fill_distances(kind, mine, k, Z)
            left = Z[k - 1 :]
            score = -(left @ theta)
            top = score.max()
            weight = np.exp(score - top)
            total = weight.sum()
            weight /= total
            mean = weight @ left
            value += score[0] - top - np.log(total)
            gradient += mean - left[0]
            if curved:
                hessian -= (left * weight.reshape(-1, 1)).T @ left - np.outer(mean, mean)
    return value, gradient, hessian


@njit(cache=True)
def stagewise(kind: int, ranks: FloatArray, offsets: IntArray, theta: FloatArray) -> IntArray:
    """Place of each document, from 1, when every stage takes the candidate with the least weighted distance."""
    places = np.zeros(len(ranks), dtype=np.int64)
    for q in range(len(offsets) - 1):
        mine = ranks[offsets[q] : offsets[q + 1]].copy()
        row = np.arange(len(mine))
        Z = np.empty_like(mine)
        for k in range(1, len(mine) + 1):
            fill_distances(kind, mine, k, Z)
            best = k - 1 + np.argmin(Z[k - 1 :] @ theta)
            places[offsets[q] + row[best]] = k
            # The rows before `best` move down by one, so that ties still keep the row order.
            for table in (mine, Z):
                chosen = table[best].copy()
                for o in range(best, k - 1, -1):
                    table[o] = table[o - 1]
                table[k - 1] = chosen
            row[k : best + 1] = row[k - 1 : best].copy()
    return places


def kind_of(distance: str) -> int:
    """Number by which the kernels know a distance."""
    return {"kendall": KENDALL, "footrule": FOOTRULE, "spearman": SPEARMAN}[distance]
