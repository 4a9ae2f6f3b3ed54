"""Retrieval from a whole collection with settings chosen on past queries, each asked as if it had not been judged.

Past queries are all that may be learned from. A sample of them is asked again, each hidden from itself and, where folds
keep sources together, from those of its source; what ranks their relevant documents best is chosen. So no judged query has to be set
aside for validation, and small sets have more queries to choose on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.collections.model import Collection
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import Choice, ValidationQueries, choose
from qdrank.measures.compute import measure
from qdrank.rankers.first_stage import bm25_settings, feedback_settings
from qdrank.studies.beyond.methods import ENCODER
from qdrank.studies.beyond.retrievers import Dense, Known, Latent, Lexical, Mixed, Retriever, weighted, z_scores
from qdrank.text.encoding import TextVectors
from qdrank.text.expansion import AskedQueries, Feedback, PastQueries, judged_queries, none_hidden
from qdrank.text.extract import TextSettings
from qdrank.text.index import Counts, FieldIndex, build_index, with_words
from qdrank.text.retrieve import BM25, RankedDocuments, best_documents

#: Scores of queries and documents held at a time.
_SCORES = 20_000_000


@dataclass(frozen=True, eq=False)
class Searchable:
    """A collection in numbers: the text searched, the words of its queries, and their relevant documents.

    Attributes
    ----------
    text : the field that is searched, over a vocabulary that has the words of the queries too
    words : csr_array (n_queries, n_terms)
    judgments : csr_array (n_queries, n_documents), grades above 0
    vectors, documents : (n_queries, n_dimensions), (n_documents, n_dimensions) by an encoder; None where there is none
    source : (n_queries,) number of the source of each query; None where folds do not keep sources together
    """

    text: FieldIndex
    words: Counts
    judgments: sparse.csr_array
    vectors: FloatArray | None = None
    documents: FloatArray | None = None
    source: IntArray | None = None

    def known(self, past: IntArray) -> Known:
        """The text, with the queries of these numbers as past queries."""
        source = None if self.source is None else self.source[past]
        queries = PastQueries(self.words[past], self.judgments[past], self._vectors(past), source)
        return Known(self.text, queries, self.documents)

    def asked(self, rows: IntArray, n_past: int) -> AskedQueries:
        """Queries of these numbers, that none of the past queries is hidden from."""
        return AskedQueries(self.words[rows], none_hidden(len(rows), n_past), self._vectors(rows))

    def _vectors(self, rows: IntArray) -> FloatArray | None:
        return None if self.vectors is None else self.vectors[rows]


def searchable(collection: Collection, settings: TextSettings, encoded: TextVectors | None = None) -> Searchable:
    """Index a collection; with the vectors of its texts, where they are ``encoded``."""
    texts = [query.text for query in collection.queries]
    index = with_words(build_index(collection.documents, settings.analyser), texts)
    judged = judged_queries(collection, index)
    made = Searchable(index.field(settings.searched), judged.words, judged.judgments, source=judged.source)
    if encoded is None:
        return made
    rows = np.unique(collection.qrels.query)
    vectors = np.zeros((len(texts), encoded.queries.shape[1]))  # those of queries without judgments are never looked at
    vectors[rows] = encoded.of_queries([collection.queries[row].query_id for row in rows.tolist()])
    return replace(made, vectors=vectors, documents=encoded.documents.astype(np.float64))


@dataclass(frozen=True)
class Grid:
    """Settings to try, and how they are judged.

    Attributes
    ----------
    models, feedbacks, copies : of BM25, of RM3, and how often the words of past queries are appended
    dimensions : of latent semantic analysis
    weights : of each part of a mix, ascending; 0 leaves the part out
    measure : a setting is judged by this measure of the ranking of all documents
    chosen_on, seed : how many past queries are asked again to choose, drawn with this seed
    """

    models: tuple[BM25, ...]
    feedbacks: tuple[Feedback, ...]
    copies: tuple[int, ...] = (1, 2, 4)
    dimensions: int = 100
    weights: tuple[float, ...] = (0.0, 0.25, 0.5, 1.0)
    measure: str = "ap"
    chosen_on: int = 200
    seed: int = 1

    @classmethod
    def of(cls, base: BM25, constants: Mapping[str, Any], feedback: Mapping[str, Any], **others: Any) -> Grid:
        """From lists of constants of BM25 and of RM3, as the configuration has them."""
        return cls(tuple(bm25_settings(base, constants)), tuple(feedback_settings(feedback)), **others)


@dataclass(eq=False)
class Chooser:
    """Chooses settings on past queries.

    Attributes
    ----------
    asked, queries : the sample of past queries as `Known.past_asked` asks them, and their judgments
    tried : by method, the settings and their values, in the order tried
    """

    known: Known
    grid: Grid
    asked: AskedQueries = field(init=False)
    queries: ValidationQueries = field(init=False)
    tried: dict[str, tuple[list[str], Choice[Any]]] = field(default_factory=dict)
    _z: dict[Retriever, NDArray[np.float32]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_documents = self.known.text.n_documents
        n = min(len(self.known.past), self.grid.chosen_on, max(50, _SCORES // max(1, n_documents)))
        rows = np.sort(np.random.default_rng(self.grid.seed).permutation(len(self.known.past))[:n])
        self.asked, grades = self.known.past_asked.take(rows), self.known.past.judgments[rows].toarray().ravel()
        offsets = np.arange(n + 1, dtype=np.int64) * n_documents
        self.queries = ValidationQueries(grades, offsets, measure=self.grid.measure, seed=self.grid.seed)

    def value(self, scores: NDArray[Any]) -> float:
        """Mean over the sample of the measure that decides, of scores (n_asked, n_documents)."""
        return self.queries.mean(np.asarray(scores, dtype=np.float64).reshape(-1, 1))

    def best(self, method: str, tried: Sequence[Retriever]) -> Any:
        """The best of several settings of a retriever, the first of equals."""
        values = ((one, self.value(one.scores(self.known, self.asked))) for one in tried)
        return self._kept(method, [str(one) for one in tried], choose(values))

    def mix(self, method: str, parts: Sequence[Retriever]) -> Mixed:
        """Weights of the parts' z-scores: the best part has weight 1; the others follow one by one, twice round."""
        z = [self._z_scores(part) for part in parts]
        leading = choose((place, self.value(one)) for place, one in enumerate(z)).chosen
        weights = [float(place == leading) for place in range(len(parts))]
        value = 0.0
        for place in 2 * [place for place in range(len(parts)) if place != leading]:
            weights[place] = 0.0
            others = weighted(z, weights)
            choice = choose((w, self.value(others + np.float32(w) * z[place])) for w in self.grid.weights)
            weights[place], value = choice.chosen, choice.value
        chosen = Mixed(tuple(parts), tuple(weights))
        self._kept(method, [", ".join(f"{weight:g}" for weight in weights)], choose([(chosen, value)]))
        return chosen

    def _z_scores(self, part: Retriever) -> NDArray[np.float32]:
        if part not in self._z:
            self._z[part] = z_scores(part.scores(self.known, self.asked)).astype(np.float32)
        return self._z[part]

    def _kept(self, method: str, settings: list[str], choice: Choice[Any]) -> Any:
        self.tried[method] = settings, choice
        return choice.chosen


def lexical(chooser: Chooser, method: str, copies: Sequence[int]) -> tuple[Lexical, Lexical]:
    """BM25 and RM3 on it: first the copies of past queries, then the constants of BM25, then the feedback."""
    grid = chooser.grid
    if len(copies) > 1:
        chosen = chooser.best(f"{method}, copies", [Lexical(grid.models[0], None, n) for n in copies])
        copies = [chosen.copies]
    plain = chooser.best(f"{method}-bm25", [Lexical(model, None, copies[0]) for model in grid.models])
    fed = chooser.best(f"{method}-rm3", [replace(plain, feedback=feedback) for feedback in grid.feedbacks])
    return plain, fed


def text_parts(chooser: Chooser) -> tuple[Retriever, ...]:
    """BM25, RM3, latent semantic analysis and, where texts are encoded, the encoder."""
    words = (*lexical(chooser, "text", [0]), chooser.best("text-lsa", [Latent(chooser.grid.dimensions)]))
    return words if chooser.known.documents is None else (*words, chooser.best(ENCODER, [Dense()]))


def in_blocks(known: Known, n_asked: int) -> Iterator[slice]:
    """Rows of queries in blocks whose scores of all documents fit into memory."""
    size = max(1, _SCORES // max(1, known.text.n_documents))
    yield from (slice(start, start + size) for start in range(0, n_asked, size))


def answered(
    retriever: Retriever, known: Known, asked: AskedQueries, depth: int
) -> Iterator[tuple[slice, RankedDocuments]]:
    """Best documents of queries, in blocks of queries, each with the rows it is for."""
    for rows in in_blocks(known, len(asked)):
        yield rows, best_documents(retriever.scores(known, asked.take(rows)), depth)


def measured(names: Iterable[str], ranking: RankedDocuments, grades: sparse.csr_array) -> dict[str, FloatArray]:
    """Measures of a ranking by name, (n_queries,) each; ``grades`` (n_queries, n_documents) has all relevant documents."""
    left: NDArray[Any] = grades.toarray()
    row, place = np.nonzero(ranking.document >= 0)
    document = ranking.document[row, place]
    y = left[row, document]
    left[row, document] = 0
    missed = np.nonzero(left)
    bounds = [np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(left)))]) for rows in (row, missed[0])]
    return measure(names, y, ranking.score[row, place], bounds[0], unranked=(left[missed], bounds[1]))
