"""Hard classes of queries for QC, the baseline that trains one model per class (Geng 2008, section 4.2.1).

The classes are the query types in the data, or K-means classes of the query vectors if the data have no types. Two
classifiers trained on the training queries predict the class of a query (`qdrank.studies.geng2008.class_ranker`). The
first sees only the query, as in the paper: its words, their number and rarity, and the query columns of the data. The
second sees the query's vector, that is its top documents: as much as the KNN methods see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.recipe import Queries, checked_columns, topics_of
from qdrank.queries.vectors import k_means, nearest_centre
from qdrank.store.schemas import Shape

_TEXT = pa.string()
CLASSES_SHAPE = Shape(
    "classes",
    {"query_id": _TEXT, "role": _TEXT, "class": _TEXT, "guess": _TEXT, "guess_documents": _TEXT, "origin": _TEXT},
    nullable=frozenset({"class"}),
)
#: Note on classes that are not in the data.
K_MEANS = "K-means classes"
#: Number of classes where the data know no types.
N_CLASSES = 3
#: Note on classes that are not guessed because only the documents of a query are known.
NO_CLASSIFIER = "nothing is known of a query but its documents: no classifier of the query alone"
#: Most words that get their own column, and the fewest training queries that must contain such a word.
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
        """Whether ``guess`` uses the query alone."""
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


def true_classes(queries: Queries, seed: int, starts: int = 1) -> tuple[NDArray[np.object_], str, FloatArray]:
    """Classes of the queries, where they come from, and the K-means centres; of size 0 if the data have types."""
    train = queries.is_train
    if all(kind is not None for kind in queries.type[train]):
        return queries.type, "query types in the data", np.zeros((0, 0))
    n_classes = min(N_CLASSES, int(train.sum()))
    centres, _ = k_means(queries.vectors[train], n_classes, seed=seed, starts=starts)
    classes = class_names(n_classes)[nearest_centre(queries.vectors, centres)]
    return classes, f"{n_classes} {K_MEANS} of query vectors", centres


def class_names(n_classes: int) -> NDArray[np.object_]:
    """Names of K-means classes, (n_classes,)."""
    return np.array([f"class {i + 1}" for i in range(n_classes)], dtype=object)


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryColumns:
    """What a classifier of the query alone sees: the query columns of the data, and length, rarity and words of its text.

    Attributes
    ----------
    own_columns : number of query columns of the data
    words : (n_words,) words of the training queries, None if their texts are not known
    idf : (n_words,) their rarity
    n_frequent : the first ``n_frequent`` words have their own columns
    rarest : rarity of any other word
    """

    NAME: ClassVar[str] = "query-columns"

    own_columns: int
    words: NDArray[np.object_] | None
    idf: FloatArray
    n_frequent: int
    rarest: float

    def vectors(
        self,
        X: NDArray[np.float32],  # noqa: ARG002
        offsets: IntArray,
        query_columns: NDArray[Any] | None = None,
        text: Sequence[str] | None = None,
    ) -> FloatArray:
        """Columns of queries, (n_queries, n_columns)."""
        n = len(offsets) - 1
        columns = checked_columns(query_columns, n, self.own_columns) if self.own_columns else np.zeros((n, 0))
        if self.words is None:
            return columns
        if text is None or len(text) != n:
            raise InputError("these models look at the words of a query", fix="give them (text=..., or --topics)")
        return np.hstack([columns, self._text_columns(text)])

    def _text_columns(self, texts: Sequence[str]) -> FloatArray:
        assert self.words is not None
        idf = dict(zip(self.words.tolist(), self.idf.tolist(), strict=True))
        words = [text.lower().split() for text in texts]
        rows = [_described(one, text, idf, self.rarest) for one, text in zip(words, texts, strict=True)]
        frequent = self.words[: self.n_frequent].tolist()
        has: Any = [[word in one for word in frequent] for one in map(set, words)]
        return np.hstack(
            [np.array(rows).reshape(len(texts), -1), np.array(has, dtype=np.float64).reshape(len(texts), -1)]
        )


def fitted_columns(own_columns: int, texts: Sequence[str] | None) -> QueryColumns:
    """The columns to compute, learned from the texts of the training queries if these are known."""
    if texts is None:
        return QueryColumns(own_columns=own_columns, words=None, idf=np.zeros(0), n_frequent=0, rarest=0.0)
    known = [set(text.lower().split()) for text in texts]
    in_queries = Counter(word for one in known for word in one)
    words = sorted(in_queries, key=lambda word: (-in_queries[word], word))
    return QueryColumns(
        own_columns=own_columns,
        words=np.array(words, dtype=object),
        idf=np.array([float(np.log(len(known) / in_queries[word])) for word in words]),
        n_frequent=min(_WORDS, sum(n >= IN_QUERIES for n in in_queries.values())),
        rarest=float(np.log(len(known) + 1.0)),
    )


def query_columns(queries: Queries, topics: pa.Table) -> tuple[QueryColumns, FloatArray]:
    """What is known about the queries without their documents: recipe and columns (n_queries, n_columns or 0)."""
    columns, texts = topics_of(topics, queries.query_id.tolist())
    train = (
        None if texts is None else [text for text, is_train in zip(texts, queries.is_train, strict=True) if is_train]
    )
    recipe = fitted_columns(columns.shape[1], train)
    return recipe, recipe.vectors(np.zeros((0, 0), dtype=np.float32), np.arange(len(columns) + 1), columns, texts)


def _described(words: list[str], text: str, idf: dict[str, float], rarest: float) -> list[float]:
    rarity = [idf.get(word, rarest) for word in words] or [0.0]
    digits = sum(c.isdigit() for c in text)
    return [len(words), len(text), digits, sum(rarity), sum(rarity) / len(rarity), min(rarity), max(rarity)]


class TypeScores(NamedTuple):
    """Quality of predicted types."""

    types: NDArray[Any]
    precision: FloatArray
    recall: FloatArray
    f1: FloatArray
    """Per type, shape (n_types,)."""
    macro_f1: float
    """Their mean."""
    accuracy: float


def type_scores(true: NDArray[Any], guessed: NDArray[Any]) -> TypeScores:
    """Precision, recall and F1 of every type that occurs or is predicted; F1 is 0 without queries or predictions."""
    true, guessed = np.asarray(true), np.asarray(guessed)
    types = np.unique(np.concatenate([true, guessed]))
    is_true, is_guessed = true[:, None] == types, guessed[:, None] == types
    both = (is_true & is_guessed).sum(axis=0)
    precision = both / np.maximum(is_guessed.sum(axis=0), 1)
    recall = both / np.maximum(is_true.sum(axis=0), 1)
    f1 = 2 * both / (is_true.sum(axis=0) + is_guessed.sum(axis=0))
    return TypeScores(types, precision, recall, f1, float(f1.mean()), float((true == guessed).mean()))


def type_share(
    queries: Queries, nearest: NDArray[Any], types: NDArray[np.object_]
) -> tuple[NDArray[np.object_], FloatArray, FloatArray]:
    """Share of a test query's k nearest training queries that have its type, against chance.

    Parameters
    ----------
    nearest : (n_queries, k_max) training queries, nearest first
    types : (n_queries,); test queries with type None are left out

    Returns
    -------
    query_id : (n_known,)
    share : (n_known, k_max) among the first 1, 2, ... neighbours
    chance : (n_known,) the same for neighbours drawn at random
    """
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in types]))
    own = types[queries.is_train]
    same = own[nearest[rows]] == types[rows][:, None]
    names, counts = np.unique(own.astype(str), return_counts=True)
    known = dict(zip(names.tolist(), (counts / len(own)).tolist(), strict=True))
    chance = np.array([known.get(kind, 0.0) for kind in types[rows].tolist()])
    return queries.query_id[rows], np.cumsum(same, axis=1) / np.arange(1, nearest.shape[1] + 1), chance
