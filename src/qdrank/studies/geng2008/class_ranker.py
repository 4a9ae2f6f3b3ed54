"""QC: a model for each class of queries, and a classifier that predicts the class of a query (section 4.2.1).

The classifier is softmax regression on what is known about the query; we found no full description of the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, padded
from qdrank.queries.recipe import Queries
from qdrank.queries.vectors import Standardiser, k_means, nearest_centre
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.studies.geng2008.query_classes import (
    N_CLASSES,
    NO_CLASSIFIER,
    Classes,
    QueryColumns,
    class_names,
    query_columns,
    true_classes,
)

if TYPE_CHECKING:
    from qdrank.learners.ranksvm.estimator import Penalty


class TypeClassifier:
    """Softmax regression on standardised columns, deterministic and without random starts.

    ``ridge``: penalty on the squared weights, relative to the mean loss of a query.

    Attributes
    ----------
    types_ : array of shape (n_types,)
    weights_ : array of shape (n_types, n_columns + 1), the last column being the constant
    """

    def __init__(self, *, ridge: float = 0.001) -> None:
        self.ridge = ridge

    def fit(self, columns: NDArray[Any], types: NDArray[Any]) -> Self:
        """Learn from training queries, shapes (n_queries, n_columns) and (n_queries,)."""
        if self.ridge <= 0:
            raise InputError(f"ridge must be above 0, not {self.ridge}")
        self.types_, number = np.unique(types, return_inverse=True)
        self.scaler_ = Standardiser().fit(np.asarray(columns, dtype=np.float64))
        wanted = number[:, None] == np.arange(len(self.types_))
        self.weights_: FloatArray = _softmax_regression(self._design(columns), wanted, self.ridge)
        return self

    def probabilities(self, columns: NDArray[Any]) -> FloatArray:
        """Probability of every type, shape (n_queries, n_types)."""
        return _softmax(self._design(columns) @ self.weights_.T)

    def predict(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Most probable type of every query, shape (n_queries,); ties go to the first in ``types_``."""
        guessed: NDArray[Any] = self.types_[self.probabilities(columns).round(12).argmax(axis=1)]
        return guessed

    def _design(self, columns: NDArray[Any]) -> FloatArray:
        scaled = self.scaler_.transform(np.asarray(columns, dtype=np.float64))
        return np.hstack([scaled, np.ones((len(scaled), 1))])


def _softmax(scores: FloatArray) -> FloatArray:
    weights: FloatArray = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def _softmax_regression(
    Z: FloatArray, wanted: NDArray[np.bool_], ridge: float, tol: float = 1e-9, limit: int = 5000
) -> FloatArray:
    """Weights of shape (n_types, n_columns) that minimise the mean log loss and ridge / 2 times their square.

    Newton steps with Böhning's fixed bound (I - 11'/c)/2 x Z'Z/n instead of the Hessian, so that no step is too long.
    The columns of the gradient sum to 0 over the types, where the first factor of the bound is 1/2.
    """
    n = len(Z)
    # Inverted once: with 200 words a solution takes a thousand steps or more, and a step corrects the rounding of the last.
    inverse = np.linalg.inv(Z.T @ Z / (2 * n) + ridge * np.eye(Z.shape[1]))
    weights = np.zeros((wanted.shape[1], Z.shape[1]))
    for _ in range(limit):
        gradient = (_softmax(Z @ weights.T) - wanted).T @ Z / n + ridge * weights
        step = gradient @ inverse
        weights -= step
        if np.abs(step).max() < tol:
            break
    return weights


@dataclass(kw_only=True, eq=False)
class ClassRanker(QueryRanker):
    """One model per class of queries; a class without a model uses the model of all queries.

    Parameters
    ----------
    n_classes, seed, starts : of K-means, for queries without types
    lam, penalty, tol : as for `RankSVM`
    """

    NAME: ClassVar[str] = "query-classes"

    n_classes: int = N_CLASSES
    seed: int = 1
    starts: int = 1
    lam: float = 0.01
    penalty: Penalty = "half"
    tol: float = 1e-6
    classes_: NDArray[np.object_] = field(init=False, repr=False)
    """(n_classes,) their names, in the order of the classifier."""
    weights_: FloatArray = field(init=False, repr=False)
    """(n_classes, n_features)"""
    single_: FloatArray = field(init=False, repr=False)
    centres_: FloatArray = field(init=False, repr=False)
    """(n_classes, n_columns) of K-means; of size 0 if a softmax regression guesses the class."""
    softmax_: FloatArray = field(init=False, repr=False)
    """(n_classes, n_columns + 1)"""
    mean_: FloatArray = field(init=False, repr=False)
    deviation_: FloatArray = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Cluster the training queries by K-means of their vectors, and train a model for each class."""
        from qdrank.learners.ranksvm.local import prepare_training, train_block
        from qdrank.learners.ranksvm.preferences import prepare

        refuse_other_vectors(train, vectors)
        n = min(self.n_classes, len(vectors))
        centres, label = k_means(vectors, n, seed=self.seed, starts=self.starts)
        base = prepare_training(
            prepare(train.X, train.y, train.offsets), lam=self.lam, penalty=self.penalty, tol=self.tol
        )
        models = train_block(base, padded([np.flatnonzero(label == i) for i in range(n)]), tol=self.tol)
        self.single_ = base.single.w
        return self.guess_by(centres).serve(dict(zip(class_names(n).tolist(), models.W, strict=True)))

    def guess_by(self, classifier: TypeClassifier | FloatArray | str) -> Self:
        """Guess classes by a fitted classifier, by K-means centres (n_classes, n_columns), or by one constant class."""
        self.centres_ = self.softmax_ = np.zeros((0, 0))
        self.mean_ = self.deviation_ = np.zeros(0)
        if isinstance(classifier, str):
            self.classes_ = np.array([classifier], dtype=object)
        elif isinstance(classifier, TypeClassifier):
            self.classes_, self.softmax_ = classifier.types_.astype(object), classifier.weights_
            self.mean_, self.deviation_ = classifier.scaler_.mean_, classifier.scaler_.scale_
        else:
            self.classes_, self.centres_ = class_names(len(classifier)), classifier
        return self

    def serve(self, weights: dict[str, FloatArray]) -> Self:
        """Take the models (n_features,) of classes by name; a class without one is served by Single."""
        self.weights_ = np.stack([weights.get(name, self.single_) for name in self.classes_.tolist()])
        return self

    def guessed(self, vectors: FloatArray) -> IntArray:
        """Guessed class of every query, (n_queries,)."""
        if self.centres_.size:
            return nearest_centre(vectors, self.centres_)
        if not self.softmax_.size:
            return np.zeros(len(vectors), dtype=np.int64)
        classifier = TypeClassifier()
        classifier.scaler_ = Standardiser()
        classifier.scaler_.mean_, classifier.scaler_.scale_ = self.mean_, self.deviation_
        classifier.types_, classifier.weights_ = np.arange(len(self.classes_)), self.softmax_
        guess: IntArray = classifier.predict(vectors)
        return guess

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,), each query's by the model of its class."""
        refuse_other_vectors(documents, vectors)
        self.refuse_unfitted()
        return query_scores(documents, self.weights_[self.guessed(vectors)])


class Guesser(NamedTuple):
    """A classifier of the queries of a fold.

    ``ranker`` has no models yet; it sees ``columns`` (n_queries, n_columns), which ``recipe`` makes for other queries;
    None: they are the query's vector.
    """

    ranker: ClassRanker
    columns: FloatArray
    recipe: QueryColumns | None = None

    @property
    def guess(self) -> NDArray[np.object_]:
        """Predicted class of every query, (n_queries,)."""
        names: NDArray[np.object_] = self.ranker.classes_[self.ranker.guessed(self.columns)]
        return names


def guess_classes(
    queries: Queries, topics: pa.Table, *, seed: int, starts: int = 1, tol: float = 1e-6
) -> tuple[Classes, dict[str, Guesser]]:
    """Classes of the queries of a fold, and the classifiers of both methods, learned from the training queries."""
    true, origin, centres = true_classes(queries, seed, starts)

    def learned(columns: FloatArray, recipe: QueryColumns | None = None, *, vectors: bool = False) -> Guesser:
        ranker, train = ClassRanker(seed=seed, starts=starts, tol=tol), queries.is_train
        if vectors and centres.size:  # the vector itself decides the K-means class, so there is nothing to guess
            return Guesser(ranker.guess_by(centres), columns)
        if len(known := set(true[train])) == 1:
            return Guesser(ranker.guess_by(known.pop()), columns, recipe)
        return Guesser(ranker.guess_by(TypeClassifier().fit(columns[train], true[train].astype(str))), columns, recipe)

    by_documents = learned(queries.vectors, vectors=True)
    recipe, columns = query_columns(queries, topics)
    by_query = learned(columns, recipe) if columns.shape[1] else by_documents
    origin = origin if columns.shape[1] else f"{origin}; {NO_CLASSIFIER}"
    return Classes(true, by_query.guess, by_documents.guess, origin), {"qc": by_query, "qc-documents": by_documents}
