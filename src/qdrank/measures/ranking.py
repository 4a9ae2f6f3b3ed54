"""What a measure sees: judged documents in the order in which a ranker puts them."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.groups import FloatArray, IntArray, query_index

TieOrder = Literal["row", "docno"]
MAX_GRADE = 62
"""Highest grade allowed, the last whose gain 2^r - 1 fits an int64; labels of judged documents are 0 to 4."""
_PLAIN_DOCUMENTS = 2_000_000
_seen = 0  # documents that were measured without compiled kernels


def _kernels(n_documents: int) -> ModuleType:
    """The compiled kernels if Numba is loaded, else NumPy for the first documents: loading takes 0.7 s. Both give the same bits."""
    global _seen  # noqa: PLW0603
    _seen += n_documents
    if "numba" in sys.modules or _seen > _PLAIN_DOCUMENTS:
        from qdrank.measures import kernels

        return kernels
    from qdrank.measures import plain

    return plain


class Judgements:
    """Grades of documents grouped by query, to be ranked by any number of scores.

    Parameters
    ----------
    y : (n_documents,) integer grades, 0 for not relevant
    offsets : (n_queries + 1,) bounds of the queries
    doc_ids : (n_documents,) document ids, needed only by the ``trec`` convention
    unranked : grades and offsets of judged documents that are not in the lists (a run against pooled judgments);
        they have no rank, but count among the relevant documents and in the ideal order
    """

    def __init__(
        self,
        y: ArrayLike,
        offsets: ArrayLike,
        doc_ids: ArrayLike | None = None,
        unranked: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> None:
        self.grades = _grades(np.asarray(y))
        self.offsets = _offsets(np.asarray(offsets), len(self.grades))
        self.unranked = None if unranked is None else Judgements(*unranked)
        if self.unranked is not None and len(self.unranked.offsets) != len(self.offsets):
            raise InputError("the unranked documents are for another number of queries")
        self.doc_ids = None if doc_ids is None else np.asarray(doc_ids)
        if self.doc_ids is not None and len(self.doc_ids) != len(self.grades):
            raise InputError(f"{len(self.doc_ids)} document ids for {len(self.grades)} documents")

    @property
    def kernels(self) -> ModuleType:
        """`qdrank.measures.kernels`, or the same in NumPy."""
        return _kernels(0)

    @cached_property
    def n_grades(self) -> int:
        """One more than the highest grade there is."""
        highest = int(self.grades.max(initial=0))
        return 1 + (highest if self.unranked is None else max(highest, self.unranked.n_grades - 1))

    @cached_property
    def n_documents(self) -> IntArray:
        """Documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    @cached_property
    def n_missed(self) -> IntArray:
        """Relevant documents of each query that are not ranked, shape (n_queries,)."""
        if self.unranked is None:
            return np.zeros(len(self.offsets) - 1, dtype=np.int64)
        of_query = query_index(self.unranked.offsets)[self.unranked.grades >= 1]
        return np.bincount(of_query, minlength=len(self.offsets) - 1).astype(np.int64)

    @cached_property
    def ideal_offsets(self) -> IntArray:
        """Bounds of the queries in `ideal`, shape (n_queries + 1,)."""
        return self.offsets if self.unranked is None else self.offsets + self.unranked.offsets

    @cached_property
    def ideal(self) -> IntArray:
        """Grades of all judged documents in descending order within each query."""
        grades = self.grades
        if self.unranked is not None:
            of_query = np.concatenate([query_index(self.offsets), query_index(self.unranked.offsets)])
            grades = np.concatenate([grades, self.unranked.grades])[np.argsort(of_query, kind="stable")]
        ordered: IntArray = self.kernels.ideal_grades(grades, self.ideal_offsets, self.n_grades)
        return ordered

    @cached_property
    def _rows_by_docno(self) -> IntArray:
        """Rows by descending document id within each query."""
        if self.doc_ids is None:
            raise InputError(
                "the trec convention breaks ties by document id, but there are no ids",
                fix="give doc_ids, or use the linear convention",
            )
        _, docno = np.unique(self.doc_ids, return_inverse=True)
        return np.lexsort((-docno, query_index(self.offsets)))

    def ranked(self, scores: ArrayLike, ties: TieOrder = "row") -> Ranking:
        """The documents ranked by ``scores``, shape (n_documents,), the highest first."""
        checked = _scores(np.asarray(scores), len(self.grades))
        kernels = _kernels(len(checked))
        if ties == "row":
            return Ranking(self, self.grades[kernels.ranked_rows(checked, self.offsets)])
        # trec_eval keeps scores in single precision, so that scores which differ only beyond it are tied.
        start = self._rows_by_docno
        single = checked.astype(np.float32).astype(np.float64)
        rows = kernels.ranked_rows(single[start], self.offsets)
        return Ranking(self, self.grades[start[rows]])


def rows_by_score(scores: ArrayLike, offsets: ArrayLike) -> IntArray:
    """Rows of the documents by descending score within each query, ties in row order; shape (n_documents,)."""
    checked = np.asarray(scores)
    bounds = _offsets(np.asarray(offsets), len(checked))
    rows: IntArray = _kernels(len(checked)).ranked_rows(_scores(checked, len(checked)), bounds)
    return rows


@dataclass(frozen=True)
class Ranking:
    """Judgements in ranked order: ``grades`` has shape (n_documents,), query by query."""

    judgements: Judgements
    grades: IntArray

    @property
    def kernels(self) -> ModuleType:
        """`qdrank.measures.kernels`, or the same in NumPy."""
        return self.judgements.kernels


@dataclass(frozen=True, kw_only=True)
class Definition(ABC):
    """What a measure is: a function from a ranking to one value per query."""

    ties: TieOrder = "row"

    @abstractmethod
    def values(self, ranking: Ranking, cutoffs: IntArray) -> FloatArray:
        """Values of the measure, shape (n_queries, n_cutoffs).

        Parameters
        ----------
        ranking : the judged documents in ranked order
        cutoffs : (n_cutoffs,) ascending; the largest integer stands for no cutoff
        """


def _grades(y: NDArray[Any]) -> IntArray:
    if y.ndim != 1:
        raise InputError(f"grades must be one-dimensional, not of shape {y.shape}")
    with np.errstate(invalid="ignore"):  # NaN is caught below
        grades = y.astype(np.int64)
    if y.dtype.kind not in "iub" and not np.array_equal(grades, y):
        raise InputError("grades must be whole numbers", found=str(y[grades != y][0]))
    if len(grades) and not 0 <= grades.min() <= grades.max() <= MAX_GRADE:
        wrong = grades[(grades < 0) | (grades > MAX_GRADE)][0]
        raise InputError(f"grades must lie between 0 and {MAX_GRADE}", found=str(wrong))
    return grades


def _offsets(offsets: NDArray[Any], n_documents: int) -> IntArray:
    sound = offsets.ndim == 1 and len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == n_documents
    if not (sound and np.all(np.diff(offsets) >= 0)):
        raise InputError(f"offsets must rise from 0 to the number of documents, {n_documents}")
    return offsets.astype(np.int64)


def _scores(scores: NDArray[Any], n_documents: int) -> FloatArray:
    if scores.shape != (n_documents,):
        raise InputError(f"scores of shape {scores.shape} for {n_documents} documents")
    # A read-only array (Arrow gives such) would make the kernels compile once more for its type.
    scores = np.require(scores, dtype=np.float64, requirements=["C_CONTIGUOUS", "WRITEABLE"])
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise InputError(f"the score of document {row} (counted from 0) is not a number", found="nan")
    return scores
