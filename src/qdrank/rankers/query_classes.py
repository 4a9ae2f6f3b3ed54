"""Hard classes of queries for QC, the baseline that trains one model per class (Geng 2008, section 4.2.1).

The classes are the query types in the data, or K-means classes of the query vectors if the data have no types. Two
classifiers trained on the training queries predict the class of a query. The first sees only the query, as in
the paper: its words, their number and rarity, and the query columns of the data. The second sees the query's vector,
that is its top documents: as much as the KNN methods see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.groups import FloatArray, rows_of
from qdrank.queries.artifacts import Queries
from qdrank.queries.clusters import k_means, nearest_centre
from qdrank.queries.types import TypeClassifier

#: What is said of classes that the data do not know.
K_MEANS = "K-means classes"
#: What is said of classes that are not guessed, since nothing is known of a query but its documents.
NO_CLASSIFIER = "nothing is known of a query but its documents: no classifier of the query alone"
#: Most words that are columns of their own, and the fewest training queries that such a word is in.
_WORDS, IN_QUERIES = 200, 3


@dataclass(frozen=True)
class Classes:
    """Class (None if unknown) and both predicted classes of every query of a fold, and where the classes come from.

    ``guess`` is predicted from the query alone; if only the documents of a query are known, it equals ``from_documents``.
    """

    true: NDArray[np.object_]
    guess: NDArray[np.object_]
    from_documents: NDArray[np.object_]
    origin: str

    @property
    def sees_queries(self) -> bool:
        """Whether ``guess`` is made from the query alone."""
        return NO_CLASSIFIER not in self.origin

    @classmethod
    def from_table(cls, table: pa.Table) -> Classes:
        """Read the artifact ``classes``."""
        names = ("class", "guess", "guess_documents")
        true, guess, from_documents = (table.column(name).to_numpy(zero_copy_only=False) for name in names)
        return cls(true, guess, from_documents, table.column("origin")[0].as_py())

    def to_table(self, queries: Queries) -> pa.Table:
        """The artifact ``classes``."""
        texts = {"query_id": queries.query_id, "role": queries.role, "class": self.true, "guess": self.guess}
        texts |= {"guess_documents": self.from_documents}
        columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
        return pa.table(columns | {"origin": pa.array([self.origin] * len(self.guess), pa.string())})


def query_classes(queries: Queries, topics: pa.Table, *, n_classes: int, seed: int) -> Classes:
    """Classes of the queries of a fold, and the guesses of two classifiers trained on the training queries."""
    true, origin = _true_classes(queries, n_classes, seed)
    # A K-means class is decided by the vector itself: there is nothing to guess.
    from_documents = true if K_MEANS in origin else _guessed(queries.vectors, true, queries.is_train)
    own = _query_columns(queries, topics)
    if own.shape[1] == 0:
        return Classes(true, from_documents, from_documents, f"{origin}; {NO_CLASSIFIER}")
    return Classes(true, _guessed(own, true, queries.is_train), from_documents, origin)


def _guessed(columns: FloatArray, true: NDArray[np.object_], train: NDArray[np.bool_]) -> NDArray[np.object_]:
    """Guesses for all queries, (n_queries,), of a classifier that sees ``columns`` (n_queries, n_columns)."""
    known = set(true[train])
    if len(known) == 1:
        return np.array([*known] * len(true), dtype=object)
    classifier = TypeClassifier().fit(columns[train], true[train].astype(str))
    guess: NDArray[np.object_] = classifier.predict(columns).astype(object)
    return guess


def _true_classes(queries: Queries, n_classes: int, seed: int) -> tuple[NDArray[np.object_], str]:
    train = queries.is_train
    if all(kind is not None for kind in queries.type[train]):
        return queries.type, "query types in the data"
    n_classes = min(n_classes, int(train.sum()))
    centres, _ = k_means(queries.vectors[train], n_classes, seed=seed)
    classes = np.array([f"class {i + 1}" for i in range(n_classes)], dtype=object)
    return classes[nearest_centre(queries.vectors, centres)], f"{n_classes} {K_MEANS} of query vectors"


def _query_columns(queries: Queries, topics: pa.Table) -> FloatArray:
    """What is known about the queries without their documents, shape (n_queries, n_columns); perhaps nothing."""
    place = rows_of(queries.query_id, topics.column("query_id").to_numpy(zero_copy_only=False))
    given = np.array(topics.column("query_columns").to_pylist(), dtype=np.float64).reshape(len(topics), -1)[place]
    texts = [topics.column("text")[int(i)].as_py() for i in place]
    if any(text is None for text in texts):
        return given
    return np.hstack([given, text_columns(texts, queries.is_train)])


def text_columns(texts: list[str], train: NDArray[np.bool_]) -> FloatArray:
    """Length, rarity and words of queries, the words and their rarity learned from the training queries."""
    words = [text.lower().split() for text in texts]
    known = [set(own) for own, is_train in zip(words, train, strict=True) if is_train]
    in_queries = Counter(word for own in known for word in own)
    frequent = sorted((word for word, n in in_queries.items() if n >= IN_QUERIES), key=lambda w: (-in_queries[w], w))
    idf = {word: float(np.log(len(known) / n)) for word, n in in_queries.items()}
    rarest = float(np.log(len(known) + 1.0))
    rows = [_described(own, text, idf, rarest) for own, text in zip(words, texts, strict=True)]
    has: Any = [[word in own for word in frequent[:_WORDS]] for own in map(set, words)]
    return np.hstack([np.array(rows), np.array(has, dtype=np.float64).reshape(len(texts), -1)])


def _described(words: list[str], text: str, idf: dict[str, float], rarest: float) -> list[float]:
    rarity = [idf.get(word, rarest) for word in words] or [0.0]
    digits = sum(c.isdigit() for c in text)
    return [len(words), len(text), digits, sum(rarity), sum(rarity) / len(rarity), min(rarity), max(rarity)]
