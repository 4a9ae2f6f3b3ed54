"""Columns of fused runs as rankers see them: scores made comparable, ranks, and which run retrieves a document.

Documents made of runs have five columns a run (`qdrank.datasets.runs.run.COLUMNS`). The three norms are those of
`qdrank.learners.fusion`; a document that a run does not retrieve has the lowest value.

A list fused by weights has the documents of the runs with a weight above 0, and no others: those have the score minus
infinity, which measures take for not ranked. With one such run the list is that run's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.datasets.runs.run import COLUMNS, alone
from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.fusion import fused_scores
from qdrank.rankers.base import OnOtherFeatures, Unlearned

Norm = Literal["min-max", "z-score", "rank"]
_DECIMALS = 12
"""Fused scores are rounded to this, so that sums of the same numbers tie in any order of summation."""


def count_runs(documents: Judged) -> int:
    """Number of runs behind the documents' columns."""
    n, rest = divmod(documents.X.shape[1], len(COLUMNS))
    if rest or n < 2:
        fix = f"give data of kind runs: {len(COLUMNS)} columns a run, and two runs or more"
        raise InputError("these are not the columns of runs", found=f"{documents.X.shape[1]} columns", fix=fix)
    return int(n)


def column(documents: Judged, place: int) -> FloatArray:
    """One of the columns, by its place in `COLUMNS`, of every run; shape (n_documents, n_runs)."""
    count_runs(documents)
    return documents.X[:, place :: len(COLUMNS)].astype(np.float64)


def retrieved(documents: Judged) -> NDArray[np.bool_]:
    """Whether each run retrieves each document, shape (n_documents, n_runs)."""
    return column(documents, 4) > 0


def normalised(documents: Judged, norm: Norm) -> FloatArray:
    """Scores of each run made comparable within each query, shape (n_documents, n_runs)."""
    if norm == "min-max":
        return column(documents, 0)
    if norm == "z-score":
        return column(documents, 1)
    rank, there = column(documents, 2), retrieved(documents)
    if not len(rank):
        return rank
    depth = np.maximum.reduceat(np.where(there, rank, 0), documents.offsets[:-1], axis=0)[documents.query_index]
    return np.where(there, 1 - (rank - 1) / np.maximum(depth, 1), 0.0)


@dataclass(frozen=True, eq=False)
class RunScores:
    """Scores to be fused by weights.

    Attributes
    ----------
    scores : (n_documents, n_runs) of each run, comparable
    alone : (n_documents, n_runs) the order of each run alone, minus infinity where it lacks the document
    """

    scores: FloatArray
    alone: FloatArray

    @classmethod
    def of(cls, documents: Judged, norm: Norm) -> Self:
        """Scores of documents with the columns of runs."""
        return cls(normalised(documents, norm), alone(documents.X))

    def at(self, settings: FloatArray) -> FloatArray:
        """Fused scores (n_documents, n_settings) at settings (n_settings, n_runs), each for all queries."""
        # no BLAS, in which the last bits of a sum depend on the rows around it
        sums = np.round(np.einsum("nr,gr->ng", self.scores, settings), _DECIMALS)
        for g, used in enumerate(settings > 0):
            if used.all():  # every document is one that some run retrieves
                continue
            listed = self.alone[:, used].max(axis=1, initial=-np.inf)
            sums[:, g] = np.where(listed > -np.inf, listed if used.sum() == 1 else sums[:, g], -np.inf)
        return np.asarray(sums)

    def by(self, weights: FloatArray) -> FloatArray:
        """Fused scores (n_documents,) by the weights of each document's query, (n_documents, n_runs)."""
        sums = np.round(np.einsum("nr,nr->n", self.scores, weights), _DECIMALS)
        listed = np.where(weights > 0, self.alone, -np.inf).max(axis=1, initial=-np.inf)
        sums = np.where((weights > 0).sum(axis=1) == 1, listed, sums)
        return np.asarray(np.where(listed > -np.inf, sums, -np.inf))


def among_first(documents: Judged, depth: int) -> Judged:
    """The documents that a run has among its first ``depth``; relevant ones below are left out, and not counted as missed."""
    kept = ((column(documents, 2) <= depth) & retrieved(documents)).any(axis=1)
    sizes = np.bincount(documents.query_index[kept], minlength=documents.n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    names = documents.doc_id[kept] if len(documents.doc_id) else documents.doc_id
    return replace(documents, offsets=offsets, doc_id=names, y=documents.y[kept], X=documents.X[kept])


@dataclass(kw_only=True, eq=False)
class OneRun(Unlearned):
    """The ranking of one run, counted from 0; what it does not retrieve is not ranked."""

    NAME: ClassVar[str] = "one-run"

    run: int

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        return alone(documents.X)[:, self.run]


@dataclass(kw_only=True, eq=False)
class FusedRuns(Unlearned):
    """Fusion that learns nothing: ``rrf``, ``combsum`` or ``combmnz``, as `qdrank.learners.fusion` defines them.

    Parameters
    ----------
    method : {"rrf", "combsum", "combmnz"}
    norm : how scores are made comparable; not for ``rrf``
    k : constant of ``rrf``
    """

    NAME: ClassVar[str] = "fused-runs"

    method: Literal["rrf", "combsum", "combmnz"] = "rrf"
    norm: Norm = "min-max"
    k: float = 60.0

    def __post_init__(self) -> None:
        if self.method == "combmnz" and self.norm == "z-score":
            raise InputError("combmnz multiplies scores, which must not be below 0", fix="use the norm min-max or rank")

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        there = retrieved(documents)
        if self.method == "rrf":
            given = np.where(there, 1 / (self.k + column(documents, 2)), 0.0)
        else:
            given = normalised(documents, self.norm)
        return fused_scores(given, there, self.method)


@dataclass(kw_only=True, eq=False)
class OnRunScores(OnOtherFeatures):
    """A ranker whose documents have one feature per run: its score, made comparable."""

    NAME: ClassVar[str] = "on-run-scores"

    norm: Norm = "min-max"

    def inside(self, documents: Judged, vectors: FloatArray) -> Judged:  # noqa: ARG002
        """The documents with one column per run."""
        return documents.with_features(normalised(documents, self.norm))
