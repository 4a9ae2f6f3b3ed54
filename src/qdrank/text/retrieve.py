"""The first stage: BM25, the best documents of each query, and the candidates that are then ranked.

BM25 has two variants, each named after its source (a comparison: Kamphuis et al., ECIR 2020). A variant is an inverse document frequency and a saturation of the term frequency; the score of a document is their
product summed over the query's terms that it contains. ``norm`` is ``1 - b + b * length / mean length``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.collections.model import Collection, JudgedPairs
from qdrank.datasets.folds import assign_parts
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.registry import refuse_unknown
from qdrank.text.index import AnalysedQueries, FieldIndex
from qdrank.text.models import match, robertson_idf


@dataclass(frozen=True)
class BM25:
    """Parameters of BM25; the default is Lucene's variant at the constants of BEIR's baseline.

    Attributes
    ----------
    variant : {"lucene", "robertson"}
    k1, b : saturation of the term frequency, and strength of the normalisation by length
    """

    variant: str = "lucene"
    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        refuse_unknown("variant of BM25", self.variant, VARIANTS)
        if not (self.k1 >= 0 and 0 <= self.b <= 1):
            raise InputError(f"bad parameters of BM25: {self}", fix="k1 is at least 0, b is in [0, 1]")

    def norm(self, field: FieldIndex) -> FloatArray:
        """Normalisation by length, (n_documents,)."""
        return 1 - self.b + self.b * field.length / field.mean_length

    def idf(self, field: FieldIndex) -> FloatArray:
        """Inverse document frequency of every term, (n_terms,)."""
        return VARIANTS[self.variant].idf(field.df, field.n_documents)

    def saturation(self, tf: FloatArray, norm: FloatArray) -> FloatArray:
        """Weight of the term frequencies ``tf``, 0 where ``tf`` is 0."""
        return np.where(tf > 0, VARIANTS[self.variant].saturation(tf, norm, self), 0.0)


def robertson_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Robertson et al., TREC-3 (1994); LETOR's BM25."""
    return (p.k1 + 1) * tf / (tf + p.k1 * norm)


def lucene_idf(df: FloatArray, n: int) -> FloatArray:
    """Lucene's weight, never negative."""
    return np.log1p((n - df + 0.5) / (df + 0.5))


def lucene_tf(tf: FloatArray, norm: FloatArray, p: BM25) -> FloatArray:
    """Lucene 8 and later (with the exact length, as in "Lucene (accurate)" of Kamphuis et al. 2020)."""
    return tf / (tf + p.k1 * norm)


class _Variant(NamedTuple):
    """The two factors of a term's weight."""

    idf: Callable[[FloatArray, int], FloatArray]
    saturation: Callable[[FloatArray, FloatArray, BM25], FloatArray]


VARIANTS = {
    "robertson": _Variant(robertson_idf, robertson_tf),
    "lucene": _Variant(lucene_idf, lucene_tf),
}


# Weights are made a block of postings at a time, which bounds the memory of the float64 intermediates (32 MiB each).
_BLOCK = 1 << 22
# Pairs that are scored at a time.
_PAIRS = 1 << 16
# Queries whose documents are found at a time.
_QUERIES = 64
# A weight that changes no sum, and the least sum of any other.
_NOTHING, _LEAST = 5e-324, 1e-300


class RankedDocuments(NamedTuple):
    """Best documents per query.

    ``document`` and ``score`` (n_queries, n_top), best first, ties by document number, -1 and 0 beyond ``size``
    (n_queries,); ``matches`` (n_queries,) counts the documents that contain any term of the query.
    """

    document: IntArray
    score: FloatArray
    size: IntArray
    matches: IntArray


def bm25_weights(field: FieldIndex, model: BM25) -> NDArray[np.float32]:
    """Weight of every posting, in the order of ``field.postings``: what a term adds to a document's score."""
    postings, norm, idf = field.postings, model.norm(field), model.idf(field)
    weights = np.empty(postings.nnz, dtype=np.float32)
    for start in range(0, postings.nnz, _BLOCK):
        block = slice(start, min(start + _BLOCK, postings.nnz))
        tf = postings.data[block].astype(np.float64)
        weights[block] = model.saturation(tf, norm[postings.indices[block]])
    weights *= np.repeat(idf.astype(np.float32), np.diff(postings.indptr))
    return weights


def retrieve(
    field: FieldIndex, queries: AnalysedQueries, model: BM25 | None = None, *, n_top: int = 100
) -> RankedDocuments:
    """Best ``n_top`` documents of each query; a document without any term of the query is never found.

    A repeated term of the query counts as often as it occurs (as in Lucene). Memory: two numbers per posting, and the answer.
    """
    if n_top < 1:
        raise InputError(f"the number of candidates is {n_top}", fix="ask for at least 1")
    weights = bm25_weights(field, model or BM25())
    index = sparse.csr_array(
        (weights.astype(np.float64), field.postings.indices, field.postings.indptr), (field.n_terms, field.n_documents)
    )
    return top_by_score(queries.counts, index, min(n_top, field.n_documents))


def top_by_score(asked: sparse.csr_array, index: sparse.csr_array, n_top: int) -> RankedDocuments:
    """Best documents by the sums of terms' weights: times (n_queries, n_terms), weights from 0 (n_terms, n_documents)."""
    n_queries = asked.shape[0]
    sizes, matches = np.zeros((2, n_queries), dtype=np.int64)
    best, scores = np.full((n_queries, n_top), -1, dtype=np.int64), np.zeros((n_queries, n_top))
    np.maximum(
        index.data, _NOTHING, out=index.data
    )  # SciPy keeps no sum that is 0, but a match of a common word is one
    for start in range(0, n_queries, _QUERIES):
        found = asked[start : start + _QUERIES] @ index  # adds in the order of the query's terms
        found.data[found.data < _LEAST] = 0.0
        for query, (a, b) in enumerate(pairwise(found.indptr), start):
            score, document = found.data[a:b], found.indices[a:b]
            matches[query] = len(score)
            if len(score) > n_top:
                hopeful = score >= np.partition(score, -n_top)[-n_top]
                score, document = score[hopeful], document[hopeful]
            order = np.lexsort((document, -score))[:n_top]
            sizes[query] = len(order)
            best[query, : len(order)], scores[query, : len(order)] = document[order], score[order]
    return RankedDocuments(best, scores, sizes, matches)


def bm25_scores(
    field: FieldIndex, queries: AnalysedQueries, query: IntArray, document: IntArray, model: BM25 | None = None
) -> FloatArray:
    """Score of pairs of query and document, (n_pairs,) row numbers each, as `retrieve` gives it; 0 where no term matches."""
    model = model or BM25()
    scores = np.zeros(len(query))
    norm, idf = model.norm(field), model.idf(field)
    for start in range(0, len(query), _PAIRS):
        block = slice(start, start + _PAIRS)
        met = match(field, queries, query[block], document[block])
        saturation = model.saturation(met.tf, norm[document[block]][met.pair])
        scores[block] = met.over_words(idf[met.term] * saturation)
    return scores


def best_documents(scores: FloatArray, n_top: int) -> RankedDocuments:
    """Best ``n_top`` documents of each query by scores of all documents, (n_queries, n_documents); ties by number.

    Documents that share the lowest score of a query have nothing that tells them apart, and are never found.
    """
    n_queries, n_documents = scores.shape
    n_top = min(n_top, n_documents)
    lowest = scores.min(axis=1, keepdims=True, initial=np.inf)
    worth = scores > lowest
    alone = n_documents - worth.sum(axis=1) == 1
    worth |= alone[:, None]
    last = np.partition(scores, n_documents - n_top, axis=1)[:, n_documents - n_top, None]
    above = scores > last
    tied = scores == last
    room = n_top - above.sum(axis=1, keepdims=True)
    kept = above | (tied & (np.cumsum(tied, axis=1) <= room))
    document = np.nonzero(kept)[1].reshape(n_queries, n_top)
    order = np.argsort(-np.take_along_axis(scores, document, axis=1), axis=1, kind="stable")
    document = np.take_along_axis(document, order, axis=1)
    ranked = np.take_along_axis(worth, document, axis=1)
    score = np.where(ranked, np.take_along_axis(scores, document, axis=1), 0.0)
    return RankedDocuments(np.where(ranked, document, -1), score, ranked.sum(axis=1), worth.sum(axis=1))


PARTS = {"train": "train", "dev": "vali", "vali": "vali", "test": "test"}


class Candidates(NamedTuple):
    """Pairs of query and document, by row numbers, sorted by both; unjudged documents have grade 0.

    ``query``, ``document``, ``label`` have shape (n_pairs,). Documents come in the order of their ids, not of their
    scores: a model that gives all documents the same score must not inherit BM25's order.
    """

    query: IntArray
    document: IntArray
    label: NDArray[np.int8]

    def where(self, keep: NDArray[np.bool_] | slice) -> Candidates:
        """Some of the pairs."""
        return Candidates(self.query[keep], self.document[keep], self.label[keep])


def find_candidates(
    ranking: RankedDocuments, qrels: JudgedPairs, n_documents: int, *, judged: bool = False
) -> Candidates:
    """Documents of a ranking of all queries (`retrieve.retrieve`); with ``judged`` also every judged document."""
    row, column = np.nonzero(ranking.document >= 0)
    keys = row * n_documents + ranking.document[row, column]
    known = qrels.query * n_documents + qrels.document
    keys = np.unique(np.concatenate([keys, known]) if judged else keys)
    return Candidates(keys // n_documents, keys % n_documents, _labels(keys, known, qrels))


def missed_documents(candidates: Candidates, qrels: JudgedPairs, n_documents: int) -> dict[int, list[tuple[int, int]]]:
    """Grade and row of the relevant documents that are not among the candidates, highest grade first, by row of the query."""
    known = qrels.query * n_documents + qrels.document
    absent = (qrels.grade > 0) & ~np.isin(known, candidates.query * n_documents + candidates.document)
    missed: dict[int, list[tuple[int, int]]] = {}
    for query, *one in zip(
        *(column[absent].tolist() for column in (qrels.query, qrels.grade, qrels.document)), strict=True
    ):
        missed.setdefault(query, []).append((one[0], one[1]))
    return {query: sorted(of_query, key=lambda one: (-one[0], one[1])) for query, of_query in missed.items()}


def _labels(keys: IntArray, known: IntArray, qrels: JudgedPairs) -> NDArray[np.int8]:
    """Grade of each pair; ``known`` is sorted, because the judgments are."""
    labels = np.zeros(len(keys), dtype=np.int8)
    place = np.searchsorted(known, keys)
    place[place == len(known)] = 0
    hit = known[place] == keys if len(known) else np.zeros(len(keys), dtype=bool)
    labels[hit] = qrels.grade[place[hit]]
    return labels


def parts_of(collection: Collection, *, folds: int | None = None, seed: int = 0) -> list[str | None]:
    """Part of each query, None for a query without judgments, which belongs to no part.

    ``folds``: number of rotating parts S1, S2 ... drawn with ``seed``. Without it, the collection's own split (train, dev
    read as vali, test) if it has one, else five parts. Parts that are drawn keep the queries of one source together.
    """
    judged = np.bincount(collection.qrels.query, minlength=len(collection.queries)) > 0
    with_judgments = [query for query, known in zip(collection.queries, judged, strict=True) if known]
    splits = {query.split for query in with_judgments}
    if folds is None and None not in splits:
        return [_part(query.split) if known else None for query, known in zip(collection.queries, judged, strict=True)]
    source = {query.query_id: query.source for query in with_judgments if query.source is not None}
    names = [query.query_id for query in with_judgments]
    parts = assign_parts(names, seed=seed, n_parts=folds or 5, source=source or None)
    return [parts.get(query.query_id) for query in collection.queries]


def _part(split: str | None) -> str:
    if split not in PARTS:
        fix = "call the splits train, dev (or vali) and test, or draw folds"
        raise InputError(f"the split {split!r} is neither for training, validation nor test", fix=fix)
    return PARTS[split]
