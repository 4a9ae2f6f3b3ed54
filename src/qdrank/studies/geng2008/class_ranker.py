"""QC: a model for each class of queries, and a classifier that predicts the class of a query (section 4.2.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray, padded
from qdrank.queries.clusters import k_means, nearest_centre
from qdrank.queries.vectors import Standardiser
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores
from qdrank.studies.geng2008.query_classes import N_CLASSES, class_names
from qdrank.studies.geng2008.query_types import TypeClassifier

if TYPE_CHECKING:
    from qdrank.learners.ranksvm.estimator import Penalty


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
