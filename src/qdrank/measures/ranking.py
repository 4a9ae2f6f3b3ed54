"""What a measure sees: judged documents in the order in which a ranker puts them.

Documents grouped by query are padded rows, so that NumPy ranks and sums many queries at once. ``offsets`` (n_queries + 1,)
are the bounds of the queries. Sums run over the ranks in order, so that a value depends on nothing but its query. Queries
of like length share a block, which bounds both memory and padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index

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


TieOrder = Literal["row", "docno", "docno, double precision"]
MAX_GRADE = 62
"""Highest grade allowed, the last whose gain 2^r - 1 fits an int64; labels of judged documents are 0 to 4."""


class Judgements:
    """Grades of documents, those of a query together, to be ranked by any number of scores.

    Parameters
    ----------
    y : (n_documents,) integer grades, 0 for not relevant
    offsets : (n_queries + 1,) bounds of the queries
    doc_ids : (n_documents,) document ids, needed only by the ``trec`` convention
    unranked : grades and offsets of judged documents that are not in the lists (a run against pooled judgments);
        they have no rank, but count among the relevant documents and in the ideal order
    judged : (n_documents,) whether each document is judged; without it, all are. One that is not has the grade 0
    """

    def __init__(
        self,
        y: ArrayLike,
        offsets: ArrayLike,
        doc_ids: ArrayLike | None = None,
        unranked: tuple[ArrayLike, ArrayLike] | None = None,
        judged: ArrayLike | None = None,
    ) -> None:
        self.grades = _grades(np.asarray(y))
        self.offsets = _offsets(np.asarray(offsets), len(self.grades))
        self.unranked = None if unranked is None else Judgements(*unranked)
        if self.unranked is not None and len(self.unranked.offsets) != len(self.offsets):
            raise InputError("the unranked documents are for another number of queries")
        self.doc_ids = None if doc_ids is None else np.asarray(doc_ids)
        if self.doc_ids is not None and len(self.doc_ids) != len(self.grades):
            raise InputError(f"{len(self.doc_ids)} document ids for {len(self.grades)} documents")
        self.judged = np.ones(len(self.grades), dtype=bool) if judged is None else np.asarray(judged, dtype=bool)
        if self.judged.shape != self.grades.shape:
            raise InputError(f"{len(self.judged)} marks of judged documents for {len(self.grades)} documents")

    @cached_property
    def n_grades(self) -> int:
        """One more than the highest grade there is."""
        highest = int(self.grades.max(initial=0))
        return 1 + (highest if self.unranked is None else max(highest, self.unranked.n_grades - 1))

    @cached_property
    def n_documents(self) -> IntArray:
        """Documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    def n_missed(self, rel: int = 1) -> IntArray:
        """Documents of each query with grade ``rel`` or more that are not ranked, shape (n_queries,)."""
        if self.unranked is None:
            return np.zeros(len(self.offsets) - 1, dtype=np.int64)
        return self.unranked.n_relevant(rel)

    def n_relevant(self, rel: int = 1) -> IntArray:
        """Documents of each query with grade ``rel`` or more, ranked or not, shape (n_queries,)."""
        of_query = query_index(self.offsets)[self.grades >= rel]
        return np.bincount(of_query, minlength=len(self.offsets) - 1).astype(np.int64) + self.n_missed(rel)

    def n_judged(self) -> IntArray:
        """Judged documents of each query, ranked or not, shape (n_queries,)."""
        ranked = np.bincount(query_index(self.offsets)[self.judged], minlength=len(self.offsets) - 1).astype(np.int64)
        return ranked if self.unranked is None else ranked + self.unranked.n_documents

    def only(self, kept: NDArray[np.bool_]) -> Judgements:
        """The same with only the documents ``kept``, (n_documents,), in the lists; the judged ones of the others are unranked."""
        gone = self.judged & ~kept
        ids = None if self.doc_ids is None else self.doc_ids[kept]
        bounds = np.concatenate([[0], np.cumsum(kept)])[self.offsets]
        return Judgements(self.grades[kept], bounds, ids, self._with_unranked(gone), self.judged[kept])

    def of_query(self, number: int) -> Judgements:
        """The judgements of one query."""
        a, b = self.offsets[number : number + 2].tolist()
        rest = None if self.unranked is None else self.unranked.of_query(number)
        unranked = None if rest is None else (rest.grades, rest.offsets)
        names = None if self.doc_ids is None else self.doc_ids[a:b]
        return Judgements(self.grades[a:b], [0, b - a], names, unranked, self.judged[a:b])

    @cached_property
    def only_judged(self) -> Judgements:
        """The same without the documents that are not judged."""
        return self.only(self.judged)

    def _with_unranked(self, rows: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
        """Grades and bounds of some of the documents, and of the unranked ones."""
        bounds = np.concatenate([[0], np.cumsum(rows)])[self.offsets]
        if self.unranked is None:
            return self.grades[rows], bounds
        of_query = np.concatenate([query_index(bounds), query_index(self.unranked.offsets)])
        grades = np.concatenate([self.grades[rows], self.unranked.grades])
        return grades[np.argsort(of_query, kind="stable")], bounds + self.unranked.offsets

    @cached_property
    def ideal_offsets(self) -> IntArray:
        """Bounds of the queries in `ideal`, shape (n_queries + 1,)."""
        return self.offsets if self.unranked is None else self.offsets + self.unranked.offsets

    @cached_property
    def ideal(self) -> IntArray:
        """Grades of all judged documents in descending order within each query."""
        n_queries, falling = len(self.offsets) - 1, np.arange(self.n_grades)[::-1]
        sizes = np.zeros(n_queries * self.n_grades, dtype=np.int64)
        for part in [self] if self.unranked is None else [self, self.unranked]:
            places = query_index(part.offsets) * self.n_grades + falling[part.grades]
            sizes += np.bincount(places, minlength=len(sizes))
        return np.repeat(np.tile(falling, n_queries), sizes)

    def compared(self, scores: ArrayLike, ties: TieOrder) -> FloatArray:
        """Scores as they are compared: trec_eval keeps them in single precision up to version 9.0.8, in which more are tied."""
        checked = _scores(np.asarray(scores), len(self.grades))
        return checked.astype(np.float32).astype(np.float64) if ties == "docno" else checked

    def ranked(self, scores: ArrayLike, ties: TieOrder = "row") -> Ranking:
        """The documents ranked by ``scores``, shape (n_documents,), the highest first."""
        compared = self.compared(scores, ties)
        rows = ranked_rows(compared, self.offsets)
        if ties != "row":
            self._order_by_docno(rows, tie_numbers(compared[rows], self.offsets))
        return Ranking(self, rows)

    def _order_by_docno(self, rows: IntArray, tie: IntArray) -> None:
        """Put the rows of each run of tied documents in descending order of their ids."""
        if self.doc_ids is None:
            raise InputError(
                "the trec convention breaks ties by document id, but there are no ids",
                fix="give doc_ids, or use the linear convention",
            )
        next_too = np.diff(tie, append=-1) == 0
        tied = np.flatnonzero(next_too | np.roll(next_too, 1))
        _, docno = np.unique(self.doc_ids[rows[tied]], return_inverse=True)
        rows[tied] = rows[tied][np.lexsort((-docno, tie[tied]))]


def tie_numbers(ranked_scores: FloatArray, offsets: IntArray) -> IntArray:
    """Number of the run of equal scores, within its query, that each ranked document belongs to, shape (n_documents,)."""
    new = np.ones(len(ranked_scores), dtype=bool)
    new[1:] = ranked_scores[1:] != ranked_scores[:-1]
    new[offsets[:-1][np.diff(offsets) > 0]] = True
    numbers: IntArray = np.cumsum(new)
    numbers -= 1
    return numbers


def rows_by_score(scores: ArrayLike, offsets: ArrayLike) -> IntArray:
    """Rows of the documents by descending score within each query, ties in row order; shape (n_documents,)."""
    checked = np.asarray(scores)
    bounds = _offsets(np.asarray(offsets), len(checked))
    return ranked_rows(_scores(checked, len(checked)), bounds)


@dataclass(frozen=True, eq=False)
class Ranking:
    """Judgements in ranked order: ``rows``, shape (n_documents,), has each query's documents from the first rank on."""

    judgements: Judgements
    rows: IntArray

    @cached_property
    def grades(self) -> IntArray:
        """Grades in ranked order, shape (n_documents,)."""
        return self.judgements.grades[self.rows]

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Whether the documents are judged, in ranked order, shape (n_documents,)."""
        return self.judgements.judged[self.rows]


def _grades(y: NDArray[Any]) -> IntArray:
    if y.ndim != 1:
        raise InputError(f"grades must be one-dimensional, not of shape {y.shape}")
    with np.errstate(invalid="ignore"):  # NaN is caught below
        grades = y.astype(np.int64, copy=False)
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
    scores = scores.astype(np.float64, copy=False)
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        raise InputError(f"the score of document {row} (counted from 0) is not a number", found="nan")
    return scores


def borda_points(scores: ArrayLike, offsets: IntArray) -> FloatArray:
    """Number of the query's documents ranked below each document, shape (n_documents,).

    Tied documents share the mean of their ranks. Documents without a score (NaN) come after all others and share
    the mean of the remaining ranks.
    """
    values = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
    query = query_index(offsets)
    order = np.lexsort((values, query))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (values[order][1:] != values[order][:-1]) | (query[order][1:] != query[order][:-1])
    starts = np.flatnonzero(new)
    ends = np.append(starts[1:], len(order))
    middle = (starts + ends - 1) / 2
    points = np.empty(len(order))
    points[order] = np.repeat(middle, ends - starts)
    return points - offsets[query]
