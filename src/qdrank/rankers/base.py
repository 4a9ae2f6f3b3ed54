"""Rankers of judged documents that may use the query: one interface for tuning, mixing and serving; and their control."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.parameters import Parameters, fitted_names

Validation = tuple[Judged, FloatArray]
"""Documents, and the vectors of their queries."""


@dataclass(kw_only=True, eq=False)
class QueryRanker(Parameters):
    """A ranker learned from judged documents and the vectors of their queries.

    Subclasses declare their parameters as fields, and what they fit, arrays, numbers or text, as fields ``name_`` that
    `__init__` does not take; rankers and evidence among the parameters keep their own.
    """

    NAME: ClassVar[str]
    #: Parameters that hold the seed of something random; None in one of them means that nothing is drawn.
    SEEDS: ClassVar[tuple[str, ...]] = ()
    #: Whether rows are taken in batches, so that `JoinedFeatures` need not be joined first.
    IN_BATCHES: ClassVar[bool] = False
    #: Whether the ranker uses document ids, and whether it needs the training documents when it predicts.
    NEEDS_NAMES: ClassVar[bool] = False
    NEEDS_TRAINING: ClassVar[bool] = False

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Learn from documents and the vectors (n_queries, n_columns) of their queries.

        ``validation`` is used only for choices made while a model is fitted: the number of trees.
        """
        raise NotImplementedError

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,); ``vectors`` (n_queries, n_columns) as in `fit`. Grades are not used."""
        raise NotImplementedError

    # ---- several at once: what they share, a subclass computes once for all ----

    def fit_each(
        self, tried: Sequence[Self], train: Judged, vectors: FloatArray, validation: Validation | None = None
    ) -> Iterator[Self]:
        """Fit rankers of this kind that differ in their settings, one by one; those that are fitted stay as they are."""
        for one in tried:
            yield one if one.is_fitted else one.fit(train, vectors, validation)

    def predict_each(
        self, fitted: Iterable[Self], documents: Judged, vectors: FloatArray
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers of this kind that differ in their settings, one by one with their scores (n_documents,)."""
        for one in fitted:
            yield one, one.predict(documents, vectors)

    def again(self, seed: int, train: Validation, validation: Validation | None = None) -> Self:
        """The same ranker, drawn and fitted with another seed."""
        return self.redrawn(seed).fit(*train, validation=validation)

    @property
    def draws(self) -> bool:
        """Whether it, or a ranker inside it, draws at random."""
        return any(getattr(self, name) is not None for name in self.SEEDS) or any(
            one.draws for one in inner_rankers(self)
        )

    @property
    def is_fitted(self) -> bool:
        """Whether it knows all that it learns, and so does everything inside it."""
        return _is_fitted(self)

    def settings(self) -> dict[str, Any]:
        """Its parameters that are numbers or texts, with those of rankers and learners inside it as ``outer.inner``."""
        return dict(_settings(self, ""))

    def remember(self, train: Judged, vectors: FloatArray) -> Self:
        """Give a stored ranker the training documents again, as in `fit`, if it `NEEDS_TRAINING`."""
        for ranker in inner_rankers(self):
            ranker.remember(train, vectors)
        return self

    def needs(self, name: str) -> bool:
        """Whether this ranker, or one inside it, has the class attribute ``NEEDS_{name}``."""
        return bool(getattr(self, f"NEEDS_{name}")) or any(ranker.needs(name) for ranker in inner_rankers(self))

    def fresh(self) -> Self:
        """The same ranker, not fitted."""
        return type(self)(**{f.name: _fresh(getattr(self, f.name)) for f in fields(self) if f.init})

    def redrawn(self, seed: int) -> Self:
        """The same ranker, not fitted, that draws with another seed wherever it draws at random."""
        made = self.fresh()
        made.draw_with(seed)
        return made

    def draw_with(self, seed: int) -> None:
        """Draw with this seed, also in the rankers inside this one."""
        for name in self.SEEDS:
            if getattr(self, name) is not None:
                setattr(self, name, seed)
        for ranker in inner_rankers(self):
            ranker.draw_with(seed)


class Unlearned(QueryRanker):
    """A ranker that learns nothing."""

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn nothing."""
        return self


class OwnModels(QueryRanker):
    """A ranker with a model of each query's own."""

    def models(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """What each query is ranked with, (n_queries, ...)."""
        raise NotImplementedError

    def scores_by(self, documents: Judged, models: FloatArray) -> FloatArray:
        """Scores (n_documents,) of each query's documents by its entry of ``models``."""
        raise NotImplementedError

    def models_each(
        self, fitted: Iterable[Self], documents: Judged, vectors: FloatArray
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers of this kind that differ in their settings, one by one with their models."""
        for one in fitted:
            yield one, one.models(documents, vectors)

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,), each query's by its own model."""
        return self.scores_by(documents, self.models(documents, vectors))

    def predict_each(
        self, fitted: Iterable[Self], documents: Judged, vectors: FloatArray
    ) -> Iterator[tuple[Self, FloatArray]]:
        """Rankers that differ in their settings with their scores."""
        for one, models in self.models_each(fitted, documents, vectors):
            yield one, one.scores_by(documents, models)


@dataclass(kw_only=True, eq=False)
class OnOtherFeatures(QueryRanker):
    """A ranker inside, ``base``, whose documents have other features; a subclass says which."""

    base: QueryRanker

    def inside(self, documents: Judged, vectors: FloatArray) -> Judged:
        """The documents as the ranker inside sees them."""
        raise NotImplementedError

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:
        """Fit the ranker inside."""
        watched = None if validation is None else (self.inside(*validation), validation[1])
        self.base.fit(self.inside(train, vectors), vectors, watched)
        return self

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        self.refuse_unfitted()
        return self.base.predict(self.inside(documents, vectors), vectors)

    def remember(self, train: Judged, vectors: FloatArray) -> Self:
        """Give the training documents to the ranker inside."""
        self.base.remember(self.inside(train, vectors), vectors)
        return self


def inner_rankers(ranker: QueryRanker) -> list[QueryRanker]:
    """Rankers inside a ranker."""
    return [item for item in _inside(ranker) if isinstance(item, QueryRanker)]


def _inside(value: Any) -> list[Any]:
    """Rankers, learners and evidence among the parameters of one."""
    params = [getattr(value, f.name) for f in fields(value) if f.init]
    listed = [item for param in params for item in (param if isinstance(param, list | tuple) else [param])]
    return [item for item in listed if is_dataclass(item) and not isinstance(item, type)]


def _is_fitted(value: Any) -> bool:
    return all(hasattr(value, name) for name in fitted_names(value)) and all(map(_is_fitted, _inside(value)))


def _settings(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    for f in (f for f in fields(value) if f.init):
        param = getattr(value, f.name)
        if isinstance(param, bool | int | float | str):
            yield f"{place}{f.name}", param
        elif isinstance(param, Parameters):
            yield from _settings(param, f"{place}{f.name}.")


def _fresh(value: Any) -> Any:
    if isinstance(value, QueryRanker):
        return value.fresh()
    if isinstance(value, list | tuple):
        return type(value)(map(_fresh, value))
    if is_dataclass(value) and not isinstance(value, type):  # evidence
        return type(value)(**{f.name: getattr(value, f.name) for f in fields(value) if f.init})
    return value


def refuse_other_vectors(documents: Judged, vectors: FloatArray) -> None:
    """Raise unless there is one vector for each query."""
    if vectors.ndim != 2 or len(vectors) != documents.n_queries:
        raise InputError(f"vectors of shape {vectors.shape} do not fit {documents.n_queries} queries")


# ---- the control of all that is said to depend on the query: the same ranker, with what another query has ----------


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
