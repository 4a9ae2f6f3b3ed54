"""Ways to score every document of a collection for a query: by its text, and by the judgments of past queries.

All have one interface, ``scores(known, asked)``. The best scores bring candidates, and the scores of given candidates are
a feature. No query sees a past query that is hidden from it, itself to begin with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.layout import FloatArray
from qdrank.queries.profiles import Similarity
from qdrank.rankers.base import other_queries
from qdrank.text.expansion import AskedQueries, ExpandedField, Feedback, PastQueries, none_hidden
from qdrank.text.index import Counts, FieldIndex
from qdrank.text.retrieve import BM25, best_documents
from qdrank.text.topics import LatentSpace, latent_space

#: What may make two queries similar; "dense" are an encoder's vectors, "vectors" latent semantic ones.
Alike = Similarity | Literal["dense"]
#: Documents of a query's list that make two queries similar.
LISTED = 100


@dataclass(frozen=True, eq=False)
class Known:
    """What retrievers search: the text of a collection, the past queries with their judgments, vectors of the documents if any."""

    text: FieldIndex
    past: PastQueries
    documents: FloatArray | None = None
    _made: dict[Any, Any] = field(default_factory=dict, repr=False)

    def expanded(self, copies: int) -> ExpandedField:
        """The text with the words of past queries appended ``copies`` times; with 0 copies the text alone."""
        made: ExpandedField = self._kept(("expanded", copies), lambda: ExpandedField(self.text, self.past, copies))
        return made

    def latent(self, dimensions: int) -> LatentSpace:
        """The latent semantic space of the text."""
        made: LatentSpace = self._kept(("latent", dimensions), lambda: latent_space(self.text, dimensions))
        return made

    def similar(self, kind: Alike, asked: AskedQueries) -> FloatArray:
        """`similarities`, kept until other queries are asked; not to be written to."""
        for key in [key for key in self._made if key[0] == "similar" and key[2] is not asked]:
            del self._made[key]
        made: FloatArray = self._kept(("similar", kind, asked), lambda: similarities(kind, self, asked))
        return made

    def lists(self) -> sparse.csr_array:
        """Candidate lists of the past queries, (n_past, n_documents), rows of length one."""
        made: sparse.csr_array = self._kept(("lists",), lambda: _list_profiles(self, self.past.words))
        return made

    def _kept(self, key: Any, make: Any) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def past_asked(self) -> AskedQueries:
        """The past queries as they are asked themselves, each without those of its source, itself among them."""
        return AskedQueries(self.past.words, self.past.related, self.past.vectors)

    def with_judgments(self, judgments: sparse.csr_array) -> Known:
        """The same text and past queries with other judgments; what depends on the text alone is kept."""
        made = {key: value for key, value in self._made.items() if key[0] in ("latent", "lists")}
        return replace(self, past=replace(self.past, judgments=judgments), _made=made)


class Retriever(Protocol):
    """A way to score every document."""

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Scores (n_asked, n_documents), higher is better."""
        ...


@dataclass(frozen=True)
class Lexical:
    """BM25 or, with ``feedback``, RM3 on it; with ``copies``, over documents expanded with past queries."""

    model: BM25 = field(default_factory=BM25)
    feedback: Feedback | None = None
    copies: int = 0

    def __str__(self) -> str:
        """The settings, for tables."""
        fed = self.feedback
        text = f"k1={self.model.k1:g}, b={self.model.b:g}"
        text += f", documents={fed.documents}, terms={fed.terms}, weight={fed.weight:g}" if fed else ""
        return text + (f", copies={self.copies}" if self.copies else "")

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """BM25 scores of the query's words, or of those that feedback makes of them."""
        documents = known.expanded(self.copies)
        first = documents.scores(asked.words, asked.hidden, self.model)
        if self.feedback is None:
            return first
        return documents.scores(documents.fed_back(asked, first, self.feedback), asked.hidden, self.model)


@dataclass(frozen=True)
class Latent:
    """Latent semantic analysis: cosine of query and document in a space of few dimensions."""

    dimensions: int = 100

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Cosines."""
        return known.latent(self.dimensions).cosines(known.text, asked.words)


@dataclass(frozen=True)
class Dense:
    """An encoder: inner product of the vectors of query and document."""

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Inner products."""
        assert known.documents is not None
        assert asked.vectors is not None
        return np.asarray(asked.vectors @ known.documents.T)


@dataclass(frozen=True)
class NearestQueries:
    """Judgments alone, without a learner: sum of sim(q, p)^power grade(p, d) over the past queries p.

    ``similarity`` is the cosine of the words, of the candidate lists by BM25, of the latent semantic vectors, or of an encoder's.
    """

    power: float = 1.0
    similarity: Alike = "words"

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Sums of judgments."""
        near = known.similar(self.similarity, asked) ** self.power
        near[asked.hidden.nonzero()] = 0.0
        return np.asarray((known.past.judgments.T @ near.T).T)


@dataclass(frozen=True)
class JudgmentRidge:
    """Ridge regression from the words of a query to the grades of all documents: k(q) (K + lam I)^-1 G.

    K holds the cosines of the words of past queries and G their grades. Without the past queries S that are hidden, rows h
    of K (K + lam I)^-1 lose h_S (A_SS)^-1 A_S, where A is (K + lam I)^-1: the inverse of a part of a matrix.
    """

    lam: float = 1.0

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Predicted grades."""
        from scipy.linalg import cho_factor, cho_solve

        kernel = similarities("words", known, known.past_asked)
        kernel[np.diag_indices_from(kernel)] += self.lam
        factor = cho_factor(kernel, lower=True)
        hat = cho_solve(factor, similarities("words", known, asked).T).T
        for query in np.flatnonzero(np.diff(asked.hidden.indptr)):
            hidden = asked.hidden.indices[slice(*asked.hidden.indptr[query : query + 2])]
            rows = cho_solve(factor, np.eye(len(kernel))[:, hidden]).T
            hat[query] -= np.linalg.solve(rows[:, hidden].T, hat[query, hidden]) @ rows
            hat[query, hidden] = 0.0
        return np.asarray((known.past.judgments.T @ hat.T).T)


@dataclass(frozen=True)
class DocumentTotals:
    """Grades of a document summed over the past queries, whatever the query, to a power: the prior of a document.

    With ``sign`` -1, documents that belong to other queries come last, as in a collection where each has one query.
    """

    sign: Literal[1, -1] = 1
    power: float = 1.0

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Sums over the past queries that are not hidden."""
        total = np.asarray(known.past.judgments.sum(axis=0), dtype=np.float64)
        return np.asarray(self.sign * (total - (asked.hidden @ known.past.judgments).toarray()) ** self.power)


@dataclass(frozen=True)
class Mixed:
    """Weighted sum of retrievers' z-scores: each query's scores, less their mean, in standard deviations."""

    parts: tuple[Retriever, ...]
    weights: tuple[float, ...]

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """The weighted sum."""
        used = [(part, weight) for part, weight in zip(self.parts, self.weights, strict=True) if weight]
        return weighted([z_scores(part.scores(known, asked)) for part, _ in used], [weight for _, weight in used])


def z_scores(scores: FloatArray) -> FloatArray:
    """Rows with mean 0 and standard deviation 1, (n_queries, n_documents); a row without spread becomes 0."""
    deviation = scores.std(axis=1, keepdims=True)
    spread = deviation > 1e-12 * np.abs(scores).max(axis=1, keepdims=True, initial=1e-300)
    return np.where(spread, (scores - scores.mean(axis=1, keepdims=True)) / np.where(spread, deviation, 1.0), 0.0)


def weighted(scores: Sequence[NDArray[Any]], weights: Sequence[float]) -> NDArray[Any]:
    """Sum of scores times weights; those of weight 0 are left out."""
    used = [weight * one for one, weight in zip(scores, weights, strict=True) if weight]
    return np.asarray(sum(used)) if used else np.zeros_like(scores[0])


@dataclass(frozen=True)
class OtherQuery:
    """A control: ``base`` asked with the words of another query, along a random cycle through all queries."""

    base: Retriever
    seed: int

    def scores(self, known: Known, asked: AskedQueries) -> FloatArray:
        """Scores of the other query, without the past queries that either must not see."""
        other = other_queries(len(asked), self.seed)
        swapped = replace(asked.take(other), hidden=asked.hidden.maximum(asked.hidden[other]))
        return self.base.scores(known, swapped)


def similarities(kind: Alike, known: Known, asked: AskedQueries) -> FloatArray:
    """Similarity of queries to the past queries, (n_asked, n_past), 0 at least."""
    if kind == "dense":
        assert asked.vectors is not None
        assert known.past.vectors is not None
        return np.maximum(asked.vectors @ known.past.vectors.T, 0.0)
    if kind == "vectors":
        latent = known.latent(100)
        return np.maximum(latent.places(known.text, asked.words) @ latent.places(known.text, known.past.words).T, 0.0)
    if kind == "words":
        profiles, of_past = _word_profiles(known, asked.words), _word_profiles(known, known.past.words)
    else:
        profiles, of_past = _list_profiles(known, asked.words), known.lists()
    return np.asarray((profiles @ of_past.T).toarray())


def _word_profiles(known: Known, words: Counts) -> sparse.csr_array:
    """Words with the weights of `qdrank.queries.profiles.QueryTexts`, rows of length one."""
    having = np.bincount(known.past.words.indices, minlength=words.shape[1])
    rarity = np.log((1.0 + len(known.past)) / (1.0 + having)) + 1
    return _unit(sparse.csr_array((words.data * rarity[words.indices], words.indices, words.indptr), shape=words.shape))


def _list_profiles(known: Known, words: Counts) -> sparse.csr_array:
    """The best documents by BM25, each weighing 1 / log2(1 + its rank), rows of length one."""
    nothing = none_hidden(words.shape[0], len(known.past))
    best = best_documents(known.expanded(0).scores(words, nothing, BM25()), LISTED).document
    query, place = np.nonzero(best >= 0)
    shape = (len(best), known.text.n_documents)
    return _unit(sparse.csr_array((1 / np.log2(2.0 + place), (query, best[query, place])), shape=shape))


def _unit(rows: sparse.csr_array) -> sparse.csr_array:
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows)
