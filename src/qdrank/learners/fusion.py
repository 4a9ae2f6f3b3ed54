"""Fusion: one ranking from several runs, or from columns of ranks (BordaCount), without judgments.

Scores are first made comparable within each query and run, then added. A document that a run does not return gets 0
from it: the lowest value of min-max, and less than any rank gives. With z-scores it gets the run's lowest score for the
query.

=========  ===========================================================================  ===============================
method     score of a document                                                          source
=========  ===========================================================================  ===============================
rrf        sum over runs of 1 / (k + rank)                                              Cormack et al. 2009
combsum    sum over runs of the normalised score                                        Fox and Shaw 1994
combmnz    combsum times the number of runs that return the document                    Fox and Shaw 1994
weights    weighted sum of the normalised scores
=========  ===========================================================================  ===============================

The list has every document of every run; with weights, of every run whose weight is not 0. Ranks follow descending score, with ties by descending document id as in trec_eval, so they do not depend on the order
of rows or files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.runs.run import Run, by_rank, min_max, run_ranks, union_of, z_score
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.base import Learner
from qdrank.learners.inputs import as_features, as_offsets
from qdrank.measures.ranking import borda_points

FUSION_METHODS = ("rrf", "combsum", "combmnz", "weights")


#: Ways to make scores comparable, and whether a document that is not returned gets the lowest score or 0.
NORMS: dict[str, tuple[Callable[[FloatArray, IntArray, IntArray], FloatArray], bool]] = {
    "min-max": (min_max, False),
    "z-score": (z_score, True),
    "rank": (by_rank, False),
}


def fuse(
    runs: Sequence[Run],
    method: str,
    *,
    norm: str = "min-max",
    weights: Sequence[float] | None = None,
    k: float = 60,
    tag: str = "fused",
) -> Run:
    """One run from several: all documents that any run returns (but one of weight 0), queries in order of first appearance.

    Returns the run, each query's documents by descending score, ties by descending document id.

    Parameters
    ----------
    runs : the runs, each with finite scores
    method : one of `FUSION_METHODS`
    norm : one of `NORMS`; not for ``rrf``, which uses ranks
    weights : one for each run; only for ``weights``
    k : constant of ``rrf``, 0 or more
    tag : name of the fused run
    """
    _check(runs, method, norm, weights, k)
    given_weights = [1.0] * len(runs) if weights is None else [float(weight) for weight in weights]
    used = [(run, weight) for run, weight in zip(runs, given_weights, strict=True) if weight]
    runs = [run for run, _ in used]
    union = union_of(runs)
    given, returned = np.zeros((len(union.of_query), len(runs))), np.zeros((len(union.of_query), len(runs)), dtype=bool)
    for i, ((run, weight), rows) in enumerate(zip(used, union.rows, strict=True)):
        given[:, i] = weight * _contribution(run, rows, union.of_query, method, norm, k)
        returned[rows, i] = True
    score = fused_scores(given, returned, method)
    order = np.lexsort((-union.docno, -score, union.of_query))
    query, doc = union.queries[union.of_query[order]], union.docs[union.docno[order]]
    return Run(query, doc, score[order], tag, f"fused by {method}")


def fused_scores(given: FloatArray, returned: NDArray[np.bool_], method: str) -> FloatArray:
    """Scores (n_pairs,) from what each run gives a document, and whether it returns it; both (n_pairs, n_runs).

    They are rounded to 13 digits of the largest, so that sums of the same numbers tie in any order of summation.
    """
    total = np.zeros(len(given))
    for of_run in given.T:
        total += of_run
    score: FloatArray = total * returned.sum(axis=1) if method == "combmnz" else total
    largest = float(np.abs(score).max(initial=0.0))
    return np.round(score / largest, 13) * largest if largest > 0 else score


def _contribution(run: Run, rows: IntArray, of_query: IntArray, method: str, norm: str, k: float) -> FloatArray:
    """Contribution of a run to the score of every document, shape (n_pairs,)."""
    rank = run_ranks(run)
    given = np.zeros(len(of_query))
    if method == "rrf":
        given[rows] = 1 / (k + rank)
        return given
    normalise, lowest = NORMS[norm]
    normalised = normalise(run.score, rank, run.offsets)
    if lowest:
        floor = np.zeros(int(of_query.max()) + 1)
        floor[of_query[rows[run.offsets[:-1]]]] = np.minimum.reduceat(normalised, run.offsets[:-1])
        given = floor[of_query]
    given[rows] = normalised
    return given


def _check(runs: Sequence[Run], method: str, norm: str, weights: Sequence[float] | None, k: float) -> None:
    if method not in FUSION_METHODS or norm not in NORMS:
        raise InputError(f"unknown fusion {method!r} or norm {norm!r}", fix=", ".join([*FUSION_METHODS, *NORMS]))
    if len(runs) < 2:
        raise InputError("fusion needs at least two runs", found=str(len(runs)), fix="name a further file of runs")
    if (method == "weights") != (weights is not None) or (weights is not None and len(weights) != len(runs)):
        fix = f"give --method weights --weights with {len(runs)} numbers, one for each run"
        raise InputError("weights and runs do not match", found=str(weights), fix=fix)
    if weights is not None and not any(weights):
        raise InputError("all weights are 0", fix="give one run a weight")
    if method == "combmnz" and norm == "z-score":
        raise InputError("combmnz multiplies scores, which must not be below 0", fix="use the norm min-max or rank")
    if not (np.isfinite(k) and k >= 0) or not np.isfinite(weights or [0.0]).all():
        raise InputError("k must be 0 or more, and weights finite", found=f"k={k}, weights={weights}")
    for run in runs:
        if method != "rrf" and not np.isfinite(run.score).all():
            raise InputError(f"run {run.tag} has an infinite score", fix="use --method rrf, which goes by ranks")


Best = Literal["low", "high"]


@dataclass(kw_only=True, eq=False)
class BordaCount(Learner):
    """Aggregation without learning; documents that are missing in a ranking share the ranks below the others.

    ``best``: which rank numbers are better. Ranks mean "low", but the figures published for LETOR 4.0's rank
    aggregation are reproduced only with "high", that is, with the rankings read upside down.
    """

    NAME: ClassVar[str] = "bordacount"
    NEEDS_FIT: ClassVar[bool] = False
    MISSING: ClassVar[bool] = True

    best: Best = "low"

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, query: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        as_rankings(X, query)
        return self

    @property
    def n_features_in_(self) -> int:
        """Unknown: any number of lists will do."""
        raise AttributeError("BordaCount takes any number of lists")

    def predict(self, X: ArrayLike, query: ArrayLike | None = None) -> FloatArray:
        """Points (n_documents,) from ranks (n_documents, n_lists), NaN where a list lacks the document."""
        ranks, offsets = as_rankings(X, query)
        return np.asarray(points_per_list(ranks, offsets, self.best).sum(axis=1))


def as_rankings(X: ArrayLike, query: ArrayLike | None) -> tuple[NDArray[Any], IntArray]:
    """Checked ranks (n_documents, n_lists) and offsets (n_queries + 1,); without ``query`` the rows are one list."""
    ranks = as_features(X, missing=True)
    return ranks, as_offsets(query, len(ranks))


def points_per_list(ranks: NDArray[Any], offsets: IntArray, best: Best) -> FloatArray:
    """BordaCount points in each input ranking, shape (n_documents, n_lists)."""
    sign = -1.0 if best == "low" else 1.0
    return np.stack([borda_points(sign * column, offsets) for column in ranks.T], axis=1)
