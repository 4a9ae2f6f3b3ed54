"""The control of everything that is said to depend on the query: the same ranker, with what another query has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.rankers.base import OwnModels, QueryRanker, Validation


@dataclass(kw_only=True, eq=False)
class OfOthers(QueryRanker):
    """A ranker that knows another query, drawn at random from those of the same call, in place of the query itself.

    Parameters
    ----------
    base : the ranker
    seed : of the draw
    given : {"vectors", "models"}
        What each query has of another one: its vector, in training too; or, of a ranker that is fitted as ever, its model.
    """

    NAME: ClassVar[str] = "of-others"
    SEEDS: ClassVar[tuple[str, ...]] = ("seed",)

    base: QueryRanker
    seed: int = 1
    given: Literal["vectors", "models"] = "vectors"

    def __post_init__(self) -> None:
        if self.given == "models" and not isinstance(self.base, OwnModels):
            raise InputError(f"{type(self.base).__name__} has no models of single queries", fix='give="vectors"')

    def others(self, documents: Judged) -> IntArray:
        """The other query of each query, (n_queries,)."""
        return other_queries(documents.n_queries, self.seed)

    def seen(self, documents: Judged, vectors: FloatArray) -> Validation:
        """Documents with the vectors that the ranker inside gets."""
        return documents, vectors[self.others(documents)] if self.given == "vectors" else vectors

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit the ranker inside."""
        self.base.fit(*self.seen(train, vectors), None if validation is None else self.seen(*validation))
        return self

    def fit_each(
        self, tried: Sequence[Self], train: Judged, vectors: FloatArray, validation: Validation | None = None
    ) -> Iterator[Self]:
        """Fit rankers whose ``base`` alone differs."""
        watched = None if validation is None else self.seen(*validation)
        fitted = self.base.fit_each([one.base for one in tried], *self.seen(train, vectors), watched)
        yield from (one for one, _ in zip(tried, fitted, strict=True))

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        return next(self.predict_each([self], documents, vectors))[1]

    def predict_each(
        self, fitted: Iterable[Self], documents: Judged, vectors: FloatArray
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers whose ``base`` alone differs, with their scores."""
        outer: dict[int, Self] = {}

        def bases() -> Iterator[Any]:
            for one in fitted:
                outer[id(one.base)] = one
                yield one.base

        if self.given == "vectors":
            for base, scores in self.base.predict_each(bases(), *self.seen(documents, vectors)):
                yield outer[id(base)], scores
            return
        assert isinstance(self.base, OwnModels)
        for own, models in self.base.models_each(bases(), documents, vectors):
            yield outer[id(own)], own.scores_by(documents, models[self.others(documents)])

    def again(self, seed: int, train: Validation, validation: Validation | None = None) -> Self:
        """Other queries drawn, and the ranker inside fitted again if it draws too, or sees what was drawn."""
        made = type(self)(base=self.base, seed=seed, given=self.given)
        if self.given == "vectors" or self.base.draws:
            watched = None if validation is None else made.seen(*validation)
            made.base = self.base.again(seed, made.seen(*train), watched)
        return made

    def remember(self, train: Judged, vectors: FloatArray) -> Self:
        """Give the training documents to the ranker inside."""
        self.base.remember(*self.seen(train, vectors))
        return self


_Value = TypeVar("_Value", bound=np.generic)


def other_queries(n: int, seed: int) -> IntArray:
    """Another query for each of ``n`` queries, along a random cycle through all of them; shape (n,)."""
    circle = np.random.default_rng(seed).permutation(n)
    other = np.empty_like(circle)
    other[circle] = np.roll(circle, 1)
    return other


def other_rows(rows: NDArray[_Value], seed: int) -> NDArray[_Value]:
    """Give each query the row of another one; shape as given."""
    return rows[other_queries(len(rows), seed)]
