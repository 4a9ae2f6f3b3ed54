"""One model for all queries, linear or trees; and evidence, which can wrap any ranker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray
from qdrank.rankers.base import OnOtherFeatures, QueryRanker, Validation, inner_rankers
from qdrank.rankers.documents import one_model_scores

if TYPE_CHECKING:
    from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence


@dataclass(kw_only=True, eq=False)
class LinearRanker(QueryRanker):
    """Ranking SVM, one for all queries; ``lam`` and ``tol`` as for `RankSVM`."""

    NAME: ClassVar[str] = "linear"

    lam: float = 0.01
    tol: float = 1e-6
    coef_: FloatArray = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn one weight per feature."""
        from qdrank.learners.ranksvm.estimator import RankSVM
        from qdrank.learners.ranksvm.preferences import prepare

        data = prepare(train.X, train.y, train.offsets)
        self.coef_ = RankSVM(lam=self.lam, tol=self.tol).fit_preferences(data).coef_
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        self.refuse_unfitted()
        return one_model_scores(documents, self.coef_)


@dataclass(kw_only=True, eq=False)
class TreeRanker(QueryRanker):
    """LambdaMART, one for all queries; parameters as for `LambdaMART`.

    With validation documents the number of trees, ``rounds_``, is chosen on them; without, all ``rounds`` are grown.
    """

    NAME: ClassVar[str] = "trees"
    IN_BATCHES: ClassVar[bool] = True
    SEEDS: ClassVar[tuple[str, ...]] = ("seed",)

    rounds: int = 300
    learning_rate: float = 0.1
    leaves: int = 31
    min_leaf: int = 20
    patience: int = 20
    seed: int = 1
    monotone: tuple[int, ...] = ()
    measure: str = "ap"
    text_: str = field(init=False, repr=False)
    rounds_: int = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Grow trees."""
        from qdrank.learners.trees import LambdaMART

        vali = None if validation is None else validation[0]
        watched = None if vali is None else (vali.X, vali.y, vali.query, vali.unranked)
        self.text_ = (
            LambdaMART(**self.get_params(deep=False)).fit(train.X, train.y, train.query, validation=watched).text_
        )
        self._booster = None
        self.rounds_ = int(self._trees().num_trees())
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:  # noqa: ARG002
        """Scores (n_documents,)."""
        from qdrank.learners.trees import tree_scores

        self.refuse_unfitted()
        return tree_scores(self._trees(), documents.X)

    def _trees(self) -> Any:
        from qdrank.learners.trees import booster_of

        if getattr(self, "_booster", None) is None:
            self._booster = booster_of(self.text_)
        return self._booster


def without_choice(ranker: QueryRanker, fitted: QueryRanker) -> QueryRanker:
    """``ranker`` with as many rounds as ``fitted`` has, for data without a validation part."""
    pairs: list[tuple[Any, Any]] = [(ranker, fitted)]
    pairs += [(getattr(ranker, "learner", None), getattr(fitted, "learner", None))]
    for one, other in pairs:
        if hasattr(one, "rounds") and hasattr(other, "rounds_"):
            one.rounds = max(1, other.rounds_)
    for one, other in zip(inner_rankers(ranker), inner_rankers(fitted), strict=True):
        without_choice(one, other)
    return ranker


@dataclass(kw_only=True, eq=False)
class WithEvidence(OnOtherFeatures):
    """A ranker whose documents have extra columns: what the judgments of other queries say about them.

    The columns are divided by their standard deviation over the training documents; a column without spread becomes 0.
    """

    NAME: ClassVar[str] = "with-evidence"
    NEEDS_NAMES: ClassVar[bool] = True

    evidence: NeighbourEvidence | DocumentPrior
    scale_: FloatArray = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit evidence and ranker; each training query without its own judgments."""
        return next(self.fit_each([self], train, vectors, validation))

    def fit_each(
        self, tried: Sequence[Self], train: Judged, vectors: FloatArray, validation: Validation | None = None
    ) -> Iterator[Self]:
        """Fit rankers with the same evidence; its columns are computed once."""
        wide = self.fit_columns(train, vectors)
        watched = None if validation is None else (self.inside(*validation), validation[1])
        for one in tried:
            one.evidence, one.scale_ = self.evidence, self.scale_
            one.base.fit(wide, vectors, watched)
            yield one

    def predict_each(
        self, fitted: Iterable[Self], documents: Judged, vectors: FloatArray
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers with their scores; the columns are computed once for all that have the same evidence."""
        evidence, inside = None, documents
        for one in fitted:
            if one.evidence is not evidence:
                evidence, inside = one.evidence, one.inside(documents, vectors)
            yield one, one.base.predict(inside, vectors)

    def fit_columns(self, train: Judged, vectors: FloatArray) -> Judged:
        """Fit only the evidence; return the training documents with its columns."""
        columns = self.evidence.fit_transform(train, self._given(vectors))
        deviation = columns.std(axis=0)
        self.scale_ = np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1.0), 0.0)
        return self._appended(train, columns)

    def inside(self, documents: Judged, vectors: FloatArray) -> Judged:
        """The documents with the columns of evidence after their features."""
        return self._appended(documents, self.evidence.transform(documents, self._given(vectors)))

    def _appended(self, documents: Judged, columns: FloatArray) -> Judged:
        return documents.with_features(np.hstack([documents.X, (columns * self.scale_).astype(np.float32)]))

    def _given(self, vectors: FloatArray) -> FloatArray | None:
        return vectors if self.evidence.similarity == "vectors" else None
