"""Advice on fusing runs: the best single run, the best fixed weights, and whether weights per query are worth it.

A run alone is measured on what it retrieved, and has the value that `qdrank evaluate` prints: a judged query that it lacks is
an empty list. What depends on a choice is measured on queries that took no part in the choice: the judged queries are put into five parts, weights are
learned on three of them, settings are chosen on the fourth, and the fifth is measured, in turn. Weights per query are
those of the most similar judged queries, or of a ridge regression on query-performance predictors, whichever validation
prefers; each has a control that knows nothing of the query. They are worth it if they beat the fixed weights by the margin
and beat their control.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.folds import ROLES, assign_parts, fold_names, roles
from qdrank.datasets.judged import Judged, TextArray
from qdrank.datasets.runs.run import Qrels, Run, judged_runs
from qdrank.errors import InputError
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import FAILS, HOLDS, RULES_OF_RUNS, UNCLEAR, Claim, Declaration
from qdrank.evaluation.intervals import bootstrap_interval, queries_needed
from qdrank.evaluation.run_files import judged_run
from qdrank.evaluation.values import Values
from qdrank.layout import FloatArray, IntArray, rows_of
from qdrank.learners.choose import ValidationQueries, choose
from qdrank.queries.predictors import RunPredictors
from qdrank.queries.profiles import Similarity
from qdrank.rankers.base import other_rows
from qdrank.rankers.run_scores import Norm, RunScores
from qdrank.rankers.run_weights import (
    NeighbourWeights,
    PredictedWeights,
    RunWeights,
    best_settings,
    measured_curves,
    settings_for,
)

Weights = TypeVar("Weights", bound=RunWeights)

NORMS: tuple[Norm, ...] = ("min-max", "z-score")
_FEWEST = 10
_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class Advice:
    """What is known of the runs.

    Attributes
    ----------
    tags : of the runs
    queries : judged queries
    alone : mean of each run alone
    norm, weights : best fixed weights on all queries, and the norm they are for
    low, high : (n_runs,) percentile interval of the weights over resampled queries
    minmax : best weights on min-max scores, for engines that have no other norm
    fixed, fixed_interval : mean of fixed weights on queries that took no part in tuning them, and its interval
    over_best, over_interval : the same minus the best run alone
    oracle : gain of the best setting of each query by its own judgments
    verdict : yes, no, or cannot tell
    gain, gain_interval, control : of weights per query on fixed weights; their gain on the control
    reason : why, in words
    needed : queries that would tell a gain of the margin; None if no number would
    by : what the weights per query came from, by fold
    """

    tags: list[str]
    queries: int
    alone: FloatArray
    norm: Norm
    weights: FloatArray
    low: FloatArray
    high: FloatArray
    minmax: FloatArray
    fixed: float
    fixed_interval: tuple[float, float]
    over_best: float
    over_interval: tuple[float, float]
    oracle: float
    verdict: str
    gain: float
    gain_interval: tuple[float, float]
    control: float
    reason: str
    needed: int | None
    by: list[str]


@dataclass(frozen=True, eq=False)
class _Curves:
    """Curves of all queries in one norm: settings (n_settings, n_runs), values (n_queries, n_settings)."""

    norm: Norm
    settings: FloatArray
    values: FloatArray


def advise(
    runs: Sequence[Run],
    qrels: Qrels,
    *,
    measure: str,
    margin: float,
    seed: int = 1,
    vectors: tuple[TextArray, NDArray[Any]] | None = None,
) -> Advice:
    """Advice on runs with judgments.

    Parameters
    ----------
    runs : two or more, with tags that differ
    qrels : the judgments
    measure : what counts, such as ``ndcg@10/trec``
    margin : smallest gain that counts
    seed : of parts, ties and resamples
    vectors : names (n,) and vectors (n, n_columns) of the queries, by which they are similar; by their documents if None
    """
    made = judged_runs(
        runs, qrels, assign_parts(list(qrels.by_query), seed=seed), max_label=max(4, int(qrels.grade.max()))
    )
    judged = made.judged
    if judged.n_queries < _FEWEST or len(set(judged.part.tolist())) < 5:
        fix = f"give judgments of {_FEWEST} queries or more; some hundreds tell more"
        raise InputError(
            "too few judged queries to tune on some and measure others", found=str(judged.n_queries), fix=fix
        )
    watched = ValidationQueries.of(judged, measure=measure, seed=seed)
    alone = np.stack(
        [judged_run(run, qrels, file=f"run {run.tag}").measured([measure])[measure] for run in runs], axis=1
    )
    whole = [_curves(watched, judged, norm) for norm in NORMS]
    predictors = RunPredictors(raw=True).vectors(judged.X, judged.offsets, made.scores)
    similar = None if vectors is None else _in_order(vectors, judged.query_id)
    folds = [_fold(judged, fold, whole, predictors, similar, seed) for fold in fold_names(judged.parts)]
    joined = {name: np.concatenate([one[name] for one in folds]) for name in ("rows", "fixed", "weighed", "control")}
    rows = joined.pop("rows")
    query_id = np.array(list(qrels.by_query), dtype=object)
    known = rows_of(judged.query_id, query_id), alone[:, 0]
    values = {name: _of_all(one[np.argsort(rows)], *known) for name, one in joined.items()}
    whole = [replace(one, values=_of_all(one.values, *known)) for one in whole]
    return _advice([run.tag for run in runs], query_id, alone, whole, values, folds, margin, seed)


def _in_order(vectors: tuple[TextArray, NDArray[Any]], query_id: TextArray) -> FloatArray:
    """Vectors of the queries with these names, (n_queries, n_columns)."""
    names, known = vectors
    return np.asarray(known[rows_of(query_id, names, among="the queries given")], dtype=np.float64)


def _of_all(values: FloatArray, places: IntArray, empty: FloatArray) -> FloatArray:
    """Values of the answered queries, (n_answered, ...), as those of all: the others' are those of an empty list, (n_queries,)."""
    whole = np.tile(empty, (*values.shape[1:], 1)).T
    whole[places] = values
    return whole


def _curves(watched: ValidationQueries, judged: Judged, norm: Norm) -> _Curves:
    scores = RunScores.of(judged, norm)
    settings = settings_for(watched, scores)
    return _Curves(norm, settings, measured_curves(watched, scores, settings))


def _fold(
    judged: Judged, fold: str, whole: Sequence[_Curves], predictors: FloatArray, similar: FloatArray | None, seed: int
) -> dict[str, Any]:
    """Values of the test queries of a fold by fixed weights, weights per query and their control."""
    parts = roles(judged.parts, fold)
    train, vali, test = (_Part.of(judged, np.flatnonzero(np.isin(judged.part, parts[role]))) for role in ROLES)
    places = [int(best_settings(one.values[train.rows].mean(axis=0)[None])[0]) for one in whole]
    norm = choose((i, one.values[vali.rows, places[i]]) for i, one in enumerate(whole)).place
    curves = whole[norm]
    known = _Known(curves, predictors, similar, train, seed)
    tried = [*known.rankers(), *known.ridges()]
    choice = choose((one, known.values(one, vali)) for one in tried)
    return {
        "rows": test.rows,
        "fixed": curves.values[test.rows, places[norm]],
        "weighed": known.values(choice.chosen, test),
        "control": known.control(choice.chosen, test),
        "by": "similar queries" if isinstance(choice.chosen, NeighbourWeights) else "predictors",
    }


class _Part(NamedTuple):
    """Some of the queries: their numbers, and their documents."""

    rows: IntArray
    documents: Judged

    @classmethod
    def of(cls, judged: Judged, rows: IntArray) -> _Part:
        return cls(rows, judged.take(rows))


@dataclass(frozen=True, eq=False)
class _Known:
    """What weights per query learn from in a fold; queries are alike by ``similar``, (n_queries, n_columns), or their documents."""

    curves: _Curves
    predictors: FloatArray
    similar: FloatArray | None
    train: _Part
    seed: int

    def rankers(self) -> list[NeighbourWeights]:
        """Weights of similar queries, fitted."""
        kind: Similarity = "candidates" if self.similar is None else "vectors"
        made = NeighbourWeights(norm=self.curves.norm, similarity=kind)
        return self._fitted(made, self._looked_at(made)).sized([0.5, 0.2, 50])

    def _looked_at(self, ranker: RunWeights) -> FloatArray:
        """The vectors of the queries that a ranker uses."""
        if isinstance(ranker, NeighbourWeights) and self.similar is not None:
            return self.similar
        return self.predictors

    def ridges(self) -> list[PredictedWeights]:
        """Weights by predictors, fitted."""
        made = [PredictedWeights(norm=self.curves.norm, lam=lam) for lam in (1.0, 0.1, 0.01)]
        return [self._fitted(one, self.predictors) for one in made]

    def _fitted(self, ranker: Weights, predictors: FloatArray) -> Weights:
        rows, known = self.train
        return ranker.fit_curves(self.curves.settings, self.curves.values[rows], known, predictors[rows])

    def values(self, ranker: RunWeights, part: _Part, predictors: FloatArray | None = None) -> FloatArray:
        """Measure of queries at the settings that a ranker chooses for them."""
        given = self._looked_at(ranker) if predictors is None else predictors
        return np.asarray(self.curves.values[part.rows, ranker.places(part.documents, given[part.rows])])

    def control(self, ranker: RunWeights, part: _Part) -> FloatArray:
        """The same with random judged queries, or the predictors of another query."""
        blind = ranker.fresh()
        if isinstance(blind, NeighbourWeights):
            blind.random = self.seed
            return self.values(self._fitted(blind, self._looked_at(blind)), part)
        others = other_rows(self.predictors, self.seed)
        return self.values(self._fitted(blind, others), part, others)


def _advice(
    tags: list[str],
    query_id: TextArray,
    alone: FloatArray,
    whole: Sequence[_Curves],
    values: Mapping[str, FloatArray],
    folds: Sequence[Mapping[str, Any]],
    margin: float,
    seed: int,
) -> Advice:
    means = [one.values.mean(axis=0) for one in whole]
    places = [int(best_settings(mean[None])[0]) for mean in means]
    best = choose((i, means[i][place]) for i, place in enumerate(places)).place
    curves, place = whole[best], places[best]
    weights = _resampled(curves, seed)
    run = choose((i, value) for i, value in enumerate(alone.T)).place
    over, gain = values["fixed"] - alone[:, run], values["weighed"] - values["fixed"]
    blind = values["weighed"] - values["control"]
    verdict, reason, interval = _worth(gain, blind, query_id, margin)
    fixed, ahead = (bootstrap_interval(x, level=0.95, resamples=2000, seed=seed) for x in (values["fixed"], over))
    return Advice(
        tags=tags,
        queries=len(query_id),
        alone=alone.mean(axis=0),
        norm=curves.norm,
        weights=curves.settings[place],
        low=np.percentile(weights, 2.5, axis=0),
        high=np.percentile(weights, 97.5, axis=0),
        minmax=whole[0].settings[places[0]],
        fixed=float(values["fixed"].mean()),
        fixed_interval=(fixed.low, fixed.high),
        over_best=float(over.mean()),
        over_interval=(ahead.low, ahead.high),
        oracle=float((curves.values.max(axis=1) - curves.values[:, place]).mean()),
        verdict=verdict,
        gain=float(gain.mean()),
        gain_interval=interval,
        control=float(blind.mean()),
        reason=reason,
        needed=queries_needed(margin, deviation=float(gain.std(ddof=1))) if gain.any() else None,
        by=[one["by"] for one in folds],
    )


def _resampled(curves: _Curves, seed: int) -> FloatArray:
    """Best settings of resampled queries, shape (n_resamples, n_runs)."""
    n = len(curves.values)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=_RESAMPLES)
    return np.asarray(curves.settings[best_settings(drawn @ curves.values / n)])


def _worth(
    gain: FloatArray, blind: FloatArray, query_id: TextArray, margin: float
) -> tuple[str, str, tuple[float, float]]:
    """Yes if weights per query beat fixed ones and their control; no if the gain is below the margin; else cannot tell."""
    names = {"gain": "weights per query beat fixed weights", "control": "they beat their control"}
    claims = tuple(
        Claim(name=name, text=text, expected="", kind="superiority", margin=margin, family="both")
        for name, text in names.items()
    )
    declared = Declaration(study="advice", paper="", claims=claims, rules=RULES_OF_RUNS)
    observations = {"gain": {"all": Values(gain, query_id)}, "control": {"all": Values(blind, query_id)}}
    rows = {row["claim"]: row for row in decide(declared, {"runs": observations}, dataset="runs").to_pylist()}
    first, second = rows["gain"], rows["control"]
    interval = tuple(np.nan if first[end] is None else float(first[end]) for end in ("low", "high"))
    if first["verdict"] == HOLDS and second["verdict"] == HOLDS:
        return "yes", first["reason"], interval  # type: ignore[return-value]
    if first["verdict"] == FAILS or second["verdict"] == FAILS:
        worse = first if first["verdict"] == FAILS else second
        return "no", f"{worse['text']}: {worse['reason']}", interval  # type: ignore[return-value]
    unclear = first if first["verdict"] == UNCLEAR else second
    return UNCLEAR, f"{unclear['text']}: {unclear['reason']}", interval  # type: ignore[return-value]
