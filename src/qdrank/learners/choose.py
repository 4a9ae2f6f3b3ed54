"""The one place where a setting is chosen on validation; fits with every combination of a grid, and further fits.

The convention: a setting is judged by the reported measure, averaged over the validation queries. Relevant documents
that are not among the candidates count as in every measure. Documents with equal scores are in a seeded random order.
Settings are tried from the most to the least regularised (`most_regularised_first`), and of equally good settings the first wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from inspect import signature
from itertools import product
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray, shuffled_within
from qdrank.learners import LEARNERS
from qdrank.learners.inputs import JudgedArrays, Unranked, as_grades, as_judged, as_offsets
from qdrank.learners.parameters import most_regularised_first
from qdrank.measures.compute import definitions, measure_ranked
from qdrank.measures.ranking import Judgements

T = TypeVar("T")

#: Decimals used to compare settings; beyond them two sums of the same values may differ.
_DECIMALS = 12


class _Documents(Protocol):
    """What is required of judged documents; `qdrank.datasets.judged.Judged` has it."""

    @property
    def y(self) -> IntArray: ...
    @property
    def offsets(self) -> IntArray: ...
    @property
    def doc_id(self) -> NDArray[np.object_]: ...
    @property
    def unranked(self) -> tuple[IntArray, IntArray] | None: ...


class ValidationQueries:
    """Grades of validation queries, used to measure scores of their documents.

    Parameters
    ----------
    y : (n_documents,) grades
    offsets : (n_queries + 1,) bounds of the queries
    unranked : grades and offsets of relevant documents that are not among these
    measure : name of the measure that decides, such as "ap" or "ndcg@10/letor4"
    seed : decides the order of tied documents
    doc_ids : (n_documents,) ids, for measures that order tied documents by them
    """

    def __init__(
        self,
        y: ArrayLike,
        offsets: ArrayLike,
        unranked: Unranked | None = None,
        *,
        measure: str = "ap",
        seed: int = 1,
        doc_ids: ArrayLike | None = None,
    ) -> None:
        self.measure = measure
        self.order = shuffled_within(np.asarray(offsets), seed)
        # numbers in the order of the ids are compared faster than ids
        numbers = None if doc_ids is None else np.unique(np.asarray(doc_ids).astype(str), return_inverse=True)[1]
        ids = None if numbers is None else numbers[self.order]
        self._judgements = Judgements(np.asarray(y)[self.order], offsets, ids, unranked)

    @classmethod
    def of(cls, documents: _Documents, *, measure: str, seed: int) -> ValidationQueries:
        """The queries of judged documents."""
        by_id = definitions([measure])[0][0].ties != "row"
        ids = documents.doc_id if by_id and len(documents.doc_id) else None
        return cls(documents.y, documents.offsets, documents.unranked, measure=measure, seed=seed, doc_ids=ids)

    def measured(self, names: Sequence[str], scores: ArrayLike) -> dict[str, FloatArray]:
        """Measures of scores (n_documents,) or (n_documents, n_rankers), by name: (n_queries,) or (n_queries, n_rankers)."""
        return measure_ranked(names, self._judgements, np.asarray(scores)[self.order])

    def values(self, scores: ArrayLike) -> FloatArray:
        """The measure that decides, for every query; shapes as in `measured`."""
        return self.measured([self.measure], scores)[self.measure]

    def mean(self, scores: ArrayLike) -> float:
        """The mean of that measure over the queries, and over the rankers, used to compare settings.

        A query without relevant documents counts as 0, as in LETOR.
        """
        matrix = np.asarray(scores)
        many = matrix.ndim == 2 and self.measure == "ap" and not (matrix == -np.inf).any()
        return _rounded_mean(self._precisions(matrix) if many else self.values(matrix))

    def _precisions(self, scores: FloatArray) -> FloatArray:
        """Average precisions (n_rankers, n_queries) of scores (n_documents, n_rankers); `values` without sorting."""
        from qdrank.measures.matrix_kernels import ap_matrix  # compiled: only where many rankers are measured

        relevant, share = self._relevant
        return np.asarray(ap_matrix(scores.T[:, self.order], relevant, self._judgements.offsets) * share)

    @cached_property
    def _relevant(self) -> tuple[NDArray[np.bool_], FloatArray]:
        """Which documents are relevant, (n_documents,), and the share of a query's relevant ones that is ranked, (n_queries,)."""
        known = self._judgements.n_relevant()
        return self._judgements.grades >= 1, (known - self._judgements.n_missed()) / np.maximum(known, 1)


def _rounded_mean(values: ArrayLike) -> float:
    return round(float(np.mean(np.asarray(values, dtype=np.float64))), _DECIMALS)


class Choice(Generic[T]):
    """The first of the best candidates offered so far; no other candidate is kept.

    Attributes
    ----------
    chosen : the candidate
    place : its index among all, counted from 0
    values : mean on validation of every candidate
    """

    chosen: T

    def __init__(self) -> None:
        self.place = -1
        self.values: list[float] = []

    @property
    def value(self) -> float:
        """Mean on validation of the candidate chosen."""
        return self.values[self.place]

    def offer(self, candidate: T, values: ArrayLike) -> None:
        """Add a candidate, with its values (n_queries,) on validation or their mean; NaN is worse than every number."""
        value = _rounded_mean(values)
        self.values.append(value)
        if self.place < 0 or value > self.value or (np.isnan(self.value) and not np.isnan(value)):
            self.chosen, self.place = candidate, len(self.values) - 1


def choose(tried: Iterable[tuple[T, ArrayLike]]) -> Choice[T]:
    """The first of the best candidates.

    ``tried``: candidates from the most to the least regularised, each with its values (n_queries,) as
    `ValidationQueries` gives them, or with their mean; an iterator is read one by one, and only the best candidate is
    kept.
    """
    choice: Choice[Any] = Choice()
    for candidate, values in tried:
        choice.offer(candidate, values)
    if choice.place < 0:
        raise InputError("there is nothing to choose from", fix="give at least one setting")
    return choice


def choice_rows(
    fold: str, method: str, settings: Sequence[str], choice: Choice[Any], measure: str, **columns: Sequence[Any]
) -> list[dict[str, Any]]:
    """Rows of the artifact ``choices``: the settings as texts, in the order tried; ``columns`` are k and lam, if any."""
    shared = {"fold": fold, "method": method, "measure": measure, "k": None, "lam": None}
    return [
        shared
        | {name: values[place] for name, values in columns.items()}
        | {"setting": setting, "value": value, "chosen": place == choice.place}
        for place, (setting, value) in enumerate(zip(settings, choice.values, strict=True))
    ]


def validation_queries(validation: JudgedArrays, measure: str, seed: int) -> ValidationQueries:
    """The queries of ``validation``, used to compare settings and rounds."""
    y = as_grades(validation[1])
    offsets = as_offsets(validation[2], len(y))
    return ValidationQueries(y, offsets, validation[3] if len(validation) > 3 else None, measure=measure, seed=seed)


class RoundChoice:
    """Watches the rounds of a booster on validation data and remembers the best one, the first if several tie.

    Without validation data the last round watched is the best one.
    """

    def __init__(self, validation: JudgedArrays | None, measure: str, seed: int) -> None:
        self.best_round = 0
        self.X: NDArray[Any] | None = None
        if validation is not None:
            self.X = as_judged(*validation[:3])[0]
            self.scores, self.choice = np.zeros(len(self.X)), Choice[int]()
            self._queries = validation_queries(validation, measure, seed)

    def watch(self, round_: int, gain: FloatArray | None) -> None:
        """Add the scores of this round, (n_documents,), to those of the validation documents, and compare."""
        if gain is None:
            self.best_round = round_
            return
        self.scores += gain
        self.choice.offer(round_, self._queries.values(self.scores))
        self.best_round = self.choice.chosen


# ---- grids ---------------------------------------------------------------------------------------------------------


def grid_settings(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """All combinations of ``grid``, each parameter from the most to the least regularised, the last varying fastest."""
    values = [most_regularised_first(name, tried) for name, tried in grid.items()]
    return [dict(zip(grid, combination, strict=True)) for combination in product(*values)]


def tune(
    learner_name: str,
    grid: Mapping[str, Sequence[Any]],
    train: JudgedArrays,
    vali: JudgedArrays,
    measure: str = "ap",
    learners: Mapping[str, Any] = LEARNERS,
    seed: int = 1,
) -> Choice[Any]:
    """Fit every combination of ``grid`` on ``train``, and choose among the learners on ``vali``.

    The values of the choice follow the order of `grid_settings`. Learners that choose a number of rounds also choose it
    on ``vali``. ``learners`` is the registry of the name; rank aggregation has its own. ``seed`` decides the order of
    tied documents.
    """
    settings = grid_settings(grid)
    if not settings:
        raise InputError(
            f"the grid of {learner_name} has a parameter without values", fix="give each parameter at least one value"
        )
    queries = validation_queries(vali, measure, seed)
    choice: Choice[Any] = Choice()
    bins: dict[str, Any] = {}
    for params in settings:
        learner = fit_one(learners[learner_name], params, train, vali, bins)
        choice.offer(learner, queries.values(learner.predict(vali[0], vali[2])))
    return choice


def fit_one(
    learner_class: Any,
    params: Mapping[str, Any],
    train: JudgedArrays,
    vali: JudgedArrays | None,
    bins: dict[str, Any] | None = None,
) -> Any:
    """A learner with these parameters, fitted on ``train``; those of trees may share the ``bins`` of the documents."""
    learner = learner_class(**params)
    taken = signature(learner.fit).parameters  # most choose nothing while they are fitted
    return learner.fit(*train, **{name: it for name, it in {"validation": vali, "bins": bins}.items() if name in taken})


def fit_seed(seed: int, fit: int) -> int:
    """Seed of one fit, from that of the configuration; fit 0 has that one itself. Below 2^31, as LightGBM wants it."""
    return seed if fit == 0 else int(np.random.SeedSequence([seed, fit]).generate_state(1)[0]) >> 1


def jittered(targets: FloatArray, *, fit: int, seed: int, size: float = 0.01) -> FloatArray:
    """Targets of one refit: each moved by a normal deviate of ``size`` times their standard deviation; fit 0 is not moved."""
    if fit == 0:
        return targets
    noise = np.random.default_rng([seed, fit]).normal(0.0, 1.0, len(targets))
    moved: FloatArray = targets + size * float(targets.std()) * noise
    return moved
