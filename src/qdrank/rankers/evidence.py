"""What the judgments of other queries say about a document.

For a query q and a document d, over the training queries q' other than q::

    evidence(q, d) = sum of sim(q, q')^gamma grade(q', d)      `NeighbourEvidence`, one column for each gamma
    prior(q, d)    = sum of                 grade(q', d)      `DocumentPrior`: how relevant d is to any query

All relevant documents of a training query count, including those that are not among its candidates; other documents
count 0. A training query never sees its own judgments: its rows are computed as if it had none, so that a learner may
train on them. The columns can be appended to the features of any learner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.profiles import Profiler, Similarity, distinct, places, profiler
from qdrank.rankers.evidence_kernels import add_by_terms, add_by_vectors

#: Tolerance for similarities, which are sums of many rounded products.
_ROUNDING = 1e-9
#: Queries whose candidates are looked for at a time.
_QUERIES = 64


@dataclass(kw_only=True, eq=False)
class _Evidence:
    """Base of evidence and prior.

    Parameters
    ----------
    similarity : {"candidates", "vectors", "words"}
        What makes queries similar: cosine of their candidate lists, of their vectors, or of their words. The last two need the
        vectors (n_queries, n_columns) or texts (n_queries,) as ``given``; texts may also be those of `Judged`.
    reference : column of the feature that ranks the candidates; without it all have the same weight
    exclude_near : queries with a similarity of this or more count as duplicates and are left out
    """

    EQUAL: ClassVar[bool]
    NAME: ClassVar[str]

    similarity: Similarity = "candidates"
    reference: int | None = None
    exclude_near: float | None = None
    profiler_: Profiler = field(init=False, repr=False)
    query_id_: NDArray[np.object_] = field(init=False, repr=False)
    document_id_: NDArray[np.object_] = field(init=False, repr=False)
    doc_first_: IntArray = field(init=False, repr=False)
    doc_query_: IntArray = field(init=False, repr=False)
    doc_grade_: FloatArray = field(init=False, repr=False)
    profiles_: tuple[NDArray[Any], ...] = field(init=False, repr=False)

    @property
    def _exponents(self) -> FloatArray:
        return np.ones(1)

    def fit(self, judged: Judged, given: ArrayLike | None = None) -> Self:
        """Keep the judgments of the training queries, and their profiles."""
        self.profiler_ = profiler(self.similarity, self.reference).fit(judged, given)
        self.query_id_ = judged.query_id
        query, names, grades = judged.relevant
        self.document_id_, document = distinct(names)
        # by query within a document, so that sums do not depend on which documents are candidates
        order = np.lexsort((query, document))
        self.doc_query_ = query[order]
        self.doc_grade_ = grades[order].astype(np.float64)
        counts = np.bincount(document, minlength=len(self.document_id_))
        self.doc_first_ = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.profiles_ = self._kept(self.profiler_.transform(judged, given))
        return self

    def transform(self, judged: Judged, given: ArrayLike | None = None) -> FloatArray:
        """Columns of documents, shape (n_documents, n_columns); a training query does not see itself."""
        self._refuse_unfitted()
        return self._columns(judged, given, judged.offsets, places(judged.doc_id, self.document_id_))

    def candidates(
        self, judged: Judged, n: int, given: ArrayLike | None = None
    ) -> tuple[IntArray, NDArray[np.object_]]:
        """Documents with the most evidence by the first column, ``n`` at most for each query, from all that were relevant.

        Returns
        -------
        query, document : (n_rows,) number of the query and name of the document, best first within a query; equal
            evidence goes by name. `Judged.ranked_instead` takes them.
        """
        self._refuse_unfitted()
        known = len(self.document_id_)
        rows, names = [], []
        for start in range(0, judged.n_queries, _QUERIES):
            some = np.arange(start, min(start + _QUERIES, judged.n_queries))
            rest = None if given is None else np.asarray(given)[some]
            offsets = np.arange(len(some) + 1, dtype=np.int64) * known
            columns = self._columns(judged.take(some), rest, offsets, np.tile(np.arange(known), len(some)))
            values = columns[:, 0].reshape(len(some), known)
            order = np.argsort(-values, axis=1, kind="stable")[:, :n]
            row, place = np.nonzero(np.take_along_axis(values, order, axis=1) > 0)
            rows.append(some[row])
            names.append(self.document_id_[order[row, place]])
        return np.concatenate(rows), np.concatenate(names)

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "profiles_"):
            raise InputError("this evidence has not been fitted", fix="call fit first")

    def _columns(self, judged: Judged, given: ArrayLike | None, offsets: IntArray, document: IntArray) -> FloatArray:
        """Columns of documents, numbers into ``document_id_`` by query; the profiles are those of ``judged``."""
        exponents = self._exponents
        out = np.zeros((len(document), len(exponents)))
        near = np.inf if self.exclude_near is None else float(self.exclude_near) - _ROUNDING
        common = (offsets, document, places(judged.query_id, self.query_id_), near, exponents, self.EQUAL)
        kept = (self.doc_first_, self.doc_query_, self.doc_grade_)
        profiles = self.profiler_.transform(judged, given)
        if isinstance(profiles, np.ndarray):
            dense: Any = add_by_vectors
            dense(*common, np.ascontiguousarray(profiles), *self.profiles_, *kept, out)
        else:
            sparse: Any = add_by_terms
            sparse(*common, *_rows(profiles), *self.profiles_, *kept, len(self.query_id_), out)
        return out

    def fit_transform(self, judged: Judged, given: ArrayLike | None = None) -> FloatArray:
        """Fit and return the columns of the same documents, each query without its own judgments."""
        return self.fit(judged, given).transform(judged, given)

    @staticmethod
    def _kept(profiles: Any) -> tuple[NDArray[Any], ...]:
        """Profiles of the training queries in the form the kernels take."""
        if isinstance(profiles, np.ndarray):
            return (np.ascontiguousarray(profiles),)
        return _rows(profiles.tocsc())


@dataclass(kw_only=True, eq=False)
class NeighbourEvidence(_Evidence):
    """Judgments of similar queries; ``gammas`` are the powers of the similarity, one column each."""

    EQUAL: ClassVar[bool] = False
    NAME: ClassVar[str] = "evidence"

    gammas: Sequence[float] = (1.0, 2.0, 4.0)

    def __post_init__(self) -> None:
        if not len(self.gammas) or not all(np.isfinite(g) and g > 0 for g in self.gammas):
            fix = "for equal weights use DocumentPrior"
            raise InputError("gammas must be positive numbers", found=str(list(self.gammas)), fix=fix)

    @property
    def _exponents(self) -> FloatArray:
        return np.asarray(self.gammas, dtype=np.float64)


@dataclass(kw_only=True, eq=False)
class DocumentPrior(_Evidence):
    """Judgments of all other queries, weighted equally: the query-blind control of `NeighbourEvidence`."""

    EQUAL: ClassVar[bool] = True
    NAME: ClassVar[str] = "prior"


def _rows(profiles: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Bounds, places and values of the rows of a sparse matrix, or of its columns if it is kept by column."""
    return profiles.indptr.astype(np.int64), profiles.indices.astype(np.int64), profiles.data


@dataclass(frozen=True)
class Recurrence:
    """How often the documents of some queries occur among the training documents.

    Attributes
    ----------
    seen : share of the rows whose document is a candidate of a training query, or relevant to one
    relevant : share of the rows whose document is relevant to a training query
    found : share of the relevant rows whose document is relevant to a training query
    queries : mean over the rows of the number of training queries that the document is relevant to
    """

    seen: float
    relevant: float
    found: float
    queries: float


def recurrence(train: Judged, documents: Judged) -> Recurrence:
    """Recurrence of ``documents`` among those of the training queries, leaving out the same query."""
    other = documents.take(np.flatnonzero(places(documents.query_id, train.query_id) < 0))
    judged = train.relevant[1]
    names, at = distinct(np.concatenate([judged, train.doc_id]))
    relevant = np.append(np.bincount(at[: len(judged)], minlength=len(names)), 0)
    place = places(other.doc_id, names)
    times = relevant[place]
    of_relevant = times[other.y > 0] > 0
    return Recurrence(seen=_mean(place >= 0), relevant=_mean(times > 0), found=_mean(of_relevant), queries=_mean(times))


def _mean(values: NDArray[Any]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
