"""What two queries have in common: their candidate lists, their vectors, or their words, as profiles of length one.

The similarity of two queries is the product of their profiles, the cosine. A profile is fitted on the training queries,
so that new queries can be compared with them: terms that no training query has only add to a profile's length.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, query_index
from qdrank.registry import refuse_unknown

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Similarity = Literal["candidates", "vectors", "words"]


def places(names: NDArray[Any], known: NDArray[Any]) -> IntArray:
    """Index of each of ``names`` in ``known``, -1 if it is missing, shape (n_names,)."""
    place = pc.index_in(pa.array(names, pa.string()), pa.array(known, pa.string()))
    return np.asarray(place.fill_null(-1)).astype(np.int64)


def distinct(names: NDArray[Any]) -> tuple[NDArray[np.object_], IntArray]:
    """Distinct names, ascending, and the index of each of ``names`` in them; faster than sorting Python strings."""
    encoded = pa.array(names, pa.string()).dictionary_encode()
    order = np.asarray(pc.array_sort_indices(encoded.dictionary)).astype(np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    sorted_names: NDArray[np.object_] = encoded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    return sorted_names, rank[np.asarray(encoded.indices)]


@dataclass(kw_only=True, eq=False)
class CandidateLists:
    """The documents of a query, each weighing 1 / log2(1 + its rank).

    ``reference``: column of the feature that ranks the candidates; None: all weigh the same.
    """

    NAME: ClassVar[str] = "candidates"

    reference: int | None = None
    terms_: NDArray[np.object_] = field(init=False, repr=False)

    def fit(self, judged: Judged, given: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Learn which documents the training queries have."""
        if len(judged.doc_id) != judged.n_documents:
            raise InputError("documents without ids cannot recur", fix="load the ids of the documents too")
        self.terms_, _ = distinct(judged.doc_id)
        return self

    def transform(self, judged: Judged, given: ArrayLike | None = None) -> csr_array:  # noqa: ARG002
        """Profiles (n_queries, n_training_documents)."""
        query = judged.query_index
        weights = np.ones(len(query))
        if self.reference is not None:
            scores = np.nan_to_num(judged.X[:, self.reference].astype(np.float64), nan=-np.inf)
            order = np.lexsort((-scores, query))  # stable: ties keep row order
            rank = np.empty(len(query), dtype=np.int64)
            rank[order] = np.arange(len(query)) - judged.offsets[query[order]]
            weights = 1 / np.log2(2.0 + rank)
        return _profiles(query, places(judged.doc_id, self.terms_), weights, judged.n_queries, len(self.terms_))


@dataclass(kw_only=True, eq=False)
class QueryTexts:
    """The words of a query, each weighing its count times log((1 + n) / (1 + training queries that have it)) + 1."""

    NAME: ClassVar[str] = "words"

    terms_: NDArray[np.object_] = field(init=False, repr=False)
    rarity_: FloatArray = field(init=False, repr=False)
    unseen_: float = field(init=False, repr=False)

    def fit(self, judged: Judged, given: ArrayLike | None = None) -> Self:
        """Learn the words of the training queries; ``given`` are their texts (n_queries,), if `Judged` has none."""
        tokens, query = self._tokens(judged, given)
        self.terms_ = np.array(tokens.terms, dtype=object)
        pairs = np.unique(np.stack([query, tokens.ids.astype(np.int64)]), axis=1)
        having = np.bincount(pairs[1], minlength=len(self.terms_))
        self.rarity_ = np.log((1.0 + judged.n_queries) / (1.0 + having)) + 1
        self.unseen_ = float(np.log(1.0 + judged.n_queries) + 1)
        return self

    def transform(self, judged: Judged, given: ArrayLike | None = None) -> csr_array:
        """Profiles (n_queries, n_words)."""
        tokens, query = self._tokens(judged, given)
        pairs, counts = np.unique(np.stack([query, tokens.ids.astype(np.int64)]), axis=1, return_counts=True)
        place = places(np.array(tokens.terms, dtype=object), self.terms_)[pairs[1]]
        rarity = np.where(place >= 0, np.append(self.rarity_, self.unseen_)[place], self.unseen_)
        return _profiles(pairs[0], place, np.asarray(counts * rarity), judged.n_queries, len(self.terms_))

    @staticmethod
    def _tokens(judged: Judged, given: ArrayLike | None) -> tuple[Any, IntArray]:
        from qdrank.text.analyser import Analyser

        texts = judged.text if given is None else np.asarray(given, dtype=object)
        if texts is None or texts.shape != (judged.n_queries,):
            fix = "give one text per query; `qdrank rank` takes them with --topics"
            raise InputError("the similarity of words needs the text of every query", fix=fix)
        tokens = Analyser().analyse(["" if text is None else str(text) for text in texts])
        return tokens, query_index(tokens.offsets)


@dataclass(kw_only=True, eq=False)
class QueryVectors:
    """The vector of a query; queries that point in opposite directions have nothing in common."""

    NAME: ClassVar[str] = "vectors"

    width_: int = field(init=False, repr=False)

    def fit(self, judged: Judged, given: ArrayLike | None = None) -> Self:
        """Learn the number of columns; ``given`` are the vectors (n_queries, n_columns)."""
        self.width_ = self._vectors(judged, given).shape[1]
        return self

    def transform(self, judged: Judged, given: ArrayLike | None = None) -> FloatArray:
        """Profiles (n_queries, n_columns), dense."""
        vectors = self._vectors(judged, given)
        if vectors.shape[1] != self.width_:
            raise InputError(f"the training queries have vectors of {self.width_} columns, not {vectors.shape[1]}")
        length = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        return np.asarray(vectors / np.where(length > 0, length, 1.0))

    @staticmethod
    def _vectors(judged: Judged, given: ArrayLike | None) -> FloatArray:
        vectors = np.zeros((0, 0)) if given is None else np.asarray(given, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != judged.n_queries:
            raise InputError("the similarity of vectors needs the vector of every query", fix="give one row per query")
        return vectors


Profiler = CandidateLists | QueryTexts | QueryVectors


def profiler(similarity: str, reference: int | None = None) -> Profiler:
    """The profiler for a kind of similarity."""
    kinds: dict[str, Profiler] = {
        "candidates": CandidateLists(reference=reference),
        "vectors": QueryVectors(),
        "words": QueryTexts(),
    }
    refuse_unknown("similarity", similarity, kinds)
    return kinds[similarity]


def _profiles(query: IntArray, term: IntArray, weight: FloatArray, n_queries: int, n_terms: int) -> csr_array:
    """Rows of length one; a term of -1 is unknown and only adds to the length."""
    from scipy.sparse import csr_array

    length = np.sqrt(np.bincount(query, weight**2, minlength=n_queries))
    known = term >= 0
    values = weight[known] / length[query[known]]
    rows: csr_array = csr_array((values, (query[known], term[known])), shape=(n_queries, n_terms))
    rows.sum_duplicates()
    return rows
