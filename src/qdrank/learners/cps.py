"""CPS (Qin, Geng and Liu 2010): a coset-permutation, stagewise model for aggregating rankings.

At stage k (from 1) a list has k - 1 documents placed and every other document is a candidate. A candidate's coset
distance to an input ranking is the mean permutation distance over all ways to finish the list. What all candidates
of a stage share cancels, and this is left, with sigma the rank in the input and n the number of documents:

    Kendall's tau   number of the other candidates that the input ranks above this one (a tie counts 1/2)
    footrule        |sigma - k| - mean over j = k+1..n of |sigma - j|
    Spearman        (n + 1 - k) sigma
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.learners.base import Learner
from qdrank.learners.fusion import Best, points_per_list
from qdrank.learners.inputs import as_offsets
from qdrank.learners.newton import newton_minimise

KENDALL, FOOTRULE, SPEARMAN = 0, 1, 2
KINDS = {"kendall": KENDALL, "footrule": FOOTRULE, "spearman": SPEARMAN}


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


Distance = Literal["kendall", "footrule", "spearman"]


@dataclass(kw_only=True, eq=False)
class CPS(Learner):
    """Input rankings weighted to make the judged order likely, one document after the other.

    Parameters
    ----------
    distance : permutation distance: "kendall" (tau), "footrule" or "spearman" (rank correlation)
    depth : how much of the judged order counts: the "relevant" documents, or "all" ranks
    samples : number of orders drawn for each query, since the judgments do not order documents of one grade
    l2 : penalty ``l2 / 2 |theta|^2`` per query and sample, on weights that are scaled by the size of the distances
    best : which rank numbers are better
    seed : decides the drawn orders
    """

    NAME: ClassVar[str] = "cps"
    WEIGHTS: ClassVar[str] = "theta_"
    MISSING: ClassVar[bool] = True

    distance: Distance = "kendall"
    depth: Literal["relevant", "all"] = "relevant"
    samples: int = 1
    l2: float = 1e-4
    best: Best = "low"
    seed: int = 1
    max_iterations: int = 50
    theta_: FloatArray = field(init=False, repr=False)
    """Weight of each input ranking, shape (n_lists,); negative for a ranking that misleads."""

    def fit(self, X: ArrayLike, y: ArrayLike, query: ArrayLike | None = None) -> Self:
        """Learn the weights from ranks (n_documents, n_lists), NaN where missing, and grades (n_documents,)."""
        ranks, grades, offsets = self.training(X, y, query)
        loss = CosetLoss(list_ranks(ranks, offsets, self.best), grades, offsets, self)
        start = np.zeros(ranks.shape[1])
        self.theta_ = newton_minimise(loss, start, tol=1e-10, max_iterations=self.max_iterations) / loss.scale
        return self

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Minus the rank of each document, shape (n_documents,), found stage by stage."""
        ranks = self.documents(X)
        offsets = as_offsets(query, len(ranks))
        places = stagewise(KINDS[self.distance], list_ranks(ranks, offsets, self.best), offsets, self.theta_)
        return -places.astype(np.float64)


@dataclass(kw_only=True, eq=False)
class CPSKendall(CPS):
    """CPS with Kendall's tau."""

    NAME: ClassVar[str] = "cps-kendall"


@dataclass(kw_only=True, eq=False)
class CPSFootrule(CPS):
    """CPS with Spearman's footrule."""

    NAME: ClassVar[str] = "cps-footrule"

    distance: Distance = "footrule"


@dataclass(kw_only=True, eq=False)
class CPSSpearman(CPS):
    """CPS with Spearman's rank correlation."""

    NAME: ClassVar[str] = "cps-spearman"

    distance: Distance = "spearman"


class CosetLoss:
    """Minus the mean log likelihood, with its derivatives, of weights measured in units of the distances' size."""

    def __init__(self, ranks: FloatArray, y: NDArray[Any], offsets: IntArray, cps: CPS) -> None:
        sizes = np.diff(offsets)
        self._offsets, self._kind, self._l2 = offsets, KINDS[cps.distance], cps.l2
        # The three distances range from n to n^2; without a common scale they would need different penalties.
        self.scale = float(np.mean(sizes**2 if cps.distance == "spearman" else sizes))
        self._depths = sizes if cps.depth == "all" else np.add.reduceat((y > 0).astype(np.int64), offsets[:-1])
        rng = np.random.default_rng(cps.seed)
        self._samples = [ranks[judged_order(y, offsets, rng)] for _ in range(cps.samples)]

    def __call__(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        """Loss and gradient at the scaled weights, shape (n_lists,)."""
        loss, gradient, _ = self._sums(scaled, curved=False)
        return loss + 0.5 * self._l2 * float(scaled @ scaled), gradient + self._l2 * scaled

    def hessian(self, scaled: FloatArray) -> FloatArray:
        """Second derivatives at the scaled weights, shape (n_lists, n_lists)."""
        curvature: FloatArray = self._sums(scaled, curved=True)[2] + self._l2 * np.eye(len(scaled))
        return curvature

    def _sums(self, scaled: FloatArray, *, curved: bool) -> tuple[float, FloatArray, FloatArray]:
        theta, per = scaled / self.scale, -(len(self._offsets) - 1) * len(self._samples)
        sums = [log_likelihood(self._kind, one, self._depths, self._offsets, theta, curved) for one in self._samples]
        value, gradient, hessian = (sum(of_systems) for of_systems in zip(*sums, strict=True))
        return value / per, gradient / (per * self.scale), hessian / (per * self.scale**2)


def list_ranks(ranks: NDArray[Any], offsets: IntArray, best: Best) -> FloatArray:
    """Rank of each document among its query's, from 1, in each input ranking, shape (n_documents, n_lists).

    Tied documents share the mean of their ranks, and so do missing ones, after all others.
    """
    sizes = np.repeat(np.diff(offsets), np.diff(offsets))
    return sizes[:, None] - points_per_list(ranks, offsets, best)


def judged_order(y: NDArray[Any], offsets: IntArray, rng: np.random.Generator) -> IntArray:
    """All rows, query by query, by falling grade and at random within a grade."""
    query = query_index(offsets)
    return np.lexsort((rng.random(len(query)), -y, query)).astype(np.int64)
