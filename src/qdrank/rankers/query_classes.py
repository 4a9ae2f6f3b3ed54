"""Hard classes of queries for QC, the baseline that trains one model per class (Geng 2008, section 4.2.1).

The classes are the query types in the data, or K-means classes of the query vectors if the data have no types.
A classifier trained on the training queries predicts the class of a query. It sees only the query, as in
the paper: its words, their number and rarity, and the query columns of the data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.groups import FloatArray, rows_of
from qdrank.queries.artifacts import Queries
from qdrank.queries.clusters import k_means, nearest_centre
from qdrank.queries.types import TypeClassifier

From = Literal["query", "documents", "both"]

#: Most words that are columns of their own, and the fewest training queries that such a word is in.
WORDS, IN_QUERIES = 200, 3


@dataclass(frozen=True)
class Classes:
    """Class (None if unknown) and predicted class of every query of a fold, and where the classes come from."""

    true: NDArray[np.object_]
    guess: NDArray[np.object_]
    origin: str

    @classmethod
    def from_table(cls, table: pa.Table) -> Classes:
        """Read the artifact ``classes``."""
        true, guess = (table.column(name).to_numpy(zero_copy_only=False) for name in ("class", "guess"))
        return cls(true, guess, table.column("origin")[0].as_py())

    def to_table(self, queries: Queries) -> pa.Table:
        """The artifact ``classes``."""
        texts = {"query_id": queries.query_id, "role": queries.role, "class": self.true, "guess": self.guess}
        columns = {name: pa.array(values, pa.string()) for name, values in texts.items()}
        return pa.table(columns | {"origin": pa.array([self.origin] * len(self.guess), pa.string())})


def query_classes(queries: Queries, topics: pa.Table, *, n_classes: int, classify_from: From, seed: int) -> Classes:
    """Classes of the queries of a fold, and the predictions of a classifier trained on the training queries."""
    true, origin = _true_classes(queries, n_classes, seed)
    columns, seen = _columns(queries, topics, classify_from)
    if columns.shape[1] == 0:
        return Classes(
            true, true, f"{origin}; nothing is known about a query but its documents, so there is no classifier"
        )
    train = np.flatnonzero(queries.is_train)
    classifier = TypeClassifier().fit(columns[train], true[train].astype(str))
    guess = classifier.predict(columns).astype(object)
    return Classes(true, guess, f"{origin}; classified from {seen}")


def _true_classes(queries: Queries, n_classes: int, seed: int) -> tuple[NDArray[np.object_], str]:
    train = queries.is_train
    if all(kind is not None for kind in queries.type[train]):
        return queries.type, "query types in the data"
    n_classes = min(n_classes, int(train.sum()))
    centres, _ = k_means(queries.vectors[train], n_classes, seed=seed)
    classes = np.array([f"class {i + 1}" for i in range(n_classes)], dtype=object)
    return classes[nearest_centre(queries.vectors, centres)], f"{n_classes} K-means classes of query vectors"


def _columns(queries: Queries, topics: pa.Table, classify_from: From) -> tuple[FloatArray, str]:
    """What the classifier sees, shape (n_queries, n_columns), and its name."""
    if classify_from == "documents":
        return queries.vectors, "top documents"
    own = query_columns(queries, topics)
    if classify_from == "query":
        return own, "the query alone"
    return np.hstack([own, queries.vectors]), "the query and its top documents"


def query_columns(queries: Queries, topics: pa.Table) -> FloatArray:
    """What is known about the queries without their documents, shape (n_queries, n_columns); perhaps nothing."""
    place = rows_of(queries.query_id, topics.column("query_id").to_numpy(zero_copy_only=False))
    given = np.array(topics.column("columns").to_pylist(), dtype=np.float64).reshape(len(topics), -1)[place]
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
    has: Any = [[word in own for word in frequent[:WORDS]] for own in map(set, words)]
    return np.hstack([np.array(rows), np.array(has, dtype=np.float64).reshape(len(texts), -1)])


def _described(words: list[str], text: str, idf: dict[str, float], rarest: float) -> list[float]:
    rarity = [idf.get(word, rarest) for word in words] or [0.0]
    digits = sum(c.isdigit() for c in text)
    return [len(words), len(text), digits, sum(rarity), sum(rarity) / len(rarity), min(rarity), max(rarity)]
