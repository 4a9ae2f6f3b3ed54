"""Query-performance predictors: what the runs of a query, and its words, say about how well each run will do.

Of each run: the margin of its first document over its tenth, the spread of its first ten scores on min-max scale (NQC
without its constant), the mean of its first five z-scores (WIG without its constant), the entropy of its first ten
min-max scores, the number of documents retrieved; and, where the raw scores are known, their mean, deviation, the first
score, and NQC and WIG themselves. Of each pair of runs: the overlap of their first ten; of more than three runs, for each the
mean overlap with the others, so that columns grow as the runs do. With texts: length, and mean and largest idf among the
training queries.

NQC: Shtok et al. 2012, deviation of the first scores over the score of the collection, here the mean of all retrieved. WIG:
Zhou and Croft 2007, mean of the first scores minus the score of the collection, over the root of the query's length, here 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.runs.run import COLUMNS
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index

_FIRST, _FEW = 10, 5
#: Most runs of which each two have a column.
_PAIRED = 3


def first_scores(scores: FloatArray, offsets: IntArray, n: int) -> FloatArray:
    """The n highest scores of each query and run, descending; shape (n_queries, n_runs, n).

    A query with fewer documents repeats its lowest score.
    """
    n_queries, n_runs = len(offsets) - 1, scores.shape[1]
    first = np.empty((n_queries, n_runs, n))
    place = np.minimum(np.arange(n), np.diff(offsets)[:, None] - 1)
    for run in range(n_runs):
        order = np.lexsort((-scores[:, run], query_index(offsets)))
        first[:, run] = scores[order, run][offsets[:-1, None] + place]
    return first


def margins(scores: FloatArray, offsets: IntArray) -> FloatArray:
    """First minus tenth score of each run, shape (n_queries, n_runs)."""
    first = first_scores(scores, offsets, _FIRST)
    return np.asarray(first[:, :, 0] - first[:, :, -1])


@dataclass(frozen=True, eq=False, kw_only=True)
class RunPredictors:
    """Recipe of predictors from the columns of runs.

    Attributes
    ----------
    raw : whether means and deviations of the raw scores are known
    terms, rarity, unseen : words of the training queries with their idf, and that of other words; None without texts
    """

    NAME: ClassVar[str] = "run-predictors"

    raw: bool = False
    terms: NDArray[np.object_] | None = None
    rarity: FloatArray | None = None
    unseen: float = 0.0

    def vectors(
        self,
        X: NDArray[np.float32],
        offsets: IntArray,
        query_columns: NDArray[Any] | None = None,
        text: Sequence[str | None] | None = None,
    ) -> FloatArray:
        """Predictors (n_queries, n_predictors).

        Parameters
        ----------
        X : (n_documents, 5 n_runs) columns of runs
        offsets : (n_queries + 1,) bounds of the queries
        query_columns : (n_queries, 2 n_runs) mean and deviation of each run's raw scores
        text : (n_queries,) words of the queries
        """
        scaled, z, rank, there = (X[:, place :: len(COLUMNS)].astype(np.float64) for place in (0, 1, 2, 4))
        columns = [*_of_shape(scaled, z, there, offsets), *_overlaps(rank, there, offsets)]
        if self.raw:
            if query_columns is None:
                raise InputError(
                    "these predictors need mean and deviation of the raw scores", fix="give query_columns=..."
                )
            columns += _of_raw(z, np.asarray(query_columns, dtype=np.float64), offsets)
        if self.terms is not None:
            if text is None:
                raise InputError("these predictors need the texts of the queries", fix="give text=...")
            columns += self._of_text(text)
        return np.column_stack(columns)

    def _of_text(self, text: Sequence[str | None]) -> list[FloatArray]:
        from qdrank.queries.profiles import places
        from qdrank.text.analyser import Analyser

        assert self.terms is not None
        assert self.rarity is not None
        tokens = Analyser().analyse(["" if one is None else str(one) for one in text])
        place = places(np.array(tokens.terms, dtype=object), self.terms)[tokens.ids.astype(np.int64)]
        idf = np.where(place >= 0, np.append(self.rarity, self.unseen)[place], self.unseen)
        query, n = query_index(tokens.offsets), np.diff(tokens.offsets)
        largest = np.zeros(len(n))
        np.maximum.at(largest, query, idf)
        return [n.astype(np.float64), np.bincount(query, idf, minlength=len(n)) / np.maximum(n, 1), largest]


def text_predictors(texts: Sequence[str | None], *, raw: bool) -> RunPredictors:
    """The recipe with the words of training queries; without them where no query has a text."""
    if not any(texts):
        return RunPredictors(raw=raw)
    from qdrank.text.analyser import Analyser

    tokens = Analyser().analyse(["" if one is None else str(one) for one in texts])
    pairs = np.unique(np.stack([query_index(tokens.offsets), tokens.ids.astype(np.int64)]), axis=1)
    having = np.bincount(pairs[1], minlength=len(tokens.terms))
    return RunPredictors(
        raw=raw,
        terms=np.array(tokens.terms, dtype=object),
        rarity=np.log((1.0 + len(texts)) / (1.0 + having)) + 1,
        unseen=float(np.log(1.0 + len(texts)) + 1),
    )


def _of_shape(scaled: FloatArray, z: FloatArray, there: FloatArray, offsets: IntArray) -> list[FloatArray]:
    first = first_scores(scaled, offsets, _FIRST)
    share = first / np.maximum(first.sum(axis=2, keepdims=True), 1e-12)
    entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=2)
    few = first_scores(z, offsets, _FEW).mean(axis=2)
    count = np.log1p(np.add.reduceat(there, offsets[:-1], axis=0))
    margin = first[:, :, 0] - first[:, :, -1]
    second = first[:, :, 0] - first[:, :, 1]
    kinds = (margin, second, first.std(axis=2), few, entropy, count)
    return [kind[:, run] for kind in kinds for run in range(scaled.shape[1])]


def _overlaps(rank: FloatArray, there: FloatArray, offsets: IntArray) -> list[FloatArray]:
    """Share of the first ten of one run that are among the first ten of another; of many runs, a mean over the others."""
    top, n_runs = (rank <= _FIRST) & (there > 0), rank.shape[1]
    if n_runs <= _PAIRED:
        pairs = combinations(range(n_runs), 2)
        return [np.add.reduceat((top[:, a] & top[:, b]).astype(float), offsets[:-1]) / _FIRST for a, b in pairs]
    others = top.sum(axis=1, keepdims=True) - 1
    shared = np.add.reduceat(np.where(top, others, 0).astype(float), offsets[:-1], axis=0)
    return list((shared / (_FIRST * (n_runs - 1))).T)


def _of_raw(z: FloatArray, raw: FloatArray, offsets: IntArray) -> list[FloatArray]:
    """Mean, deviation, first score, NQC and WIG of each run's raw scores."""
    columns = []
    first = first_scores(z, offsets, _FIRST)
    for run in range(z.shape[1]):
        mean, deviation = raw[:, 2 * run], raw[:, 2 * run + 1]
        scores = mean[:, None] + deviation[:, None] * first[:, run]
        size = np.maximum(np.abs(mean), 1e-12)
        columns += [mean, deviation, scores[:, 0], scores.std(axis=1) / size, scores[:, :_FEW].mean(axis=1) - mean]
    return columns
