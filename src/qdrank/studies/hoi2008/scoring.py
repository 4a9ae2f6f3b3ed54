"""From the weights of a fold to scores: measures every gamma and chooses one on validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, rows_of
from qdrank.learners.choose import choice_rows, choose
from qdrank.learners.ensemble.sser import SSER
from qdrank.learners.ensemble.trace_coefficients import Ties
from qdrank.measures.compute import measure
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.store import read, write
from qdrank.store.lists import list_matrix, repeated
from qdrank.store.schemas import conform
from qdrank.studies.hoi2008.fold import TIE_RULES, EnsembleFold, gathered_weights, load_ensemble_fold, solve_shard
from qdrank.studies.hoi2008.methods import PATHS, with_ties
from qdrank.studies.hoi2008.rankers import EnsembleRanker, scores_by
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE

#: What is measured for every gamma.
SWEPT = ("ap",)


class WeightBank:
    """The artifact ``ensembles`` of a fold: weights by method, query and gamma."""

    def __init__(self, table: pa.Table) -> None:
        self.method, self.query_id = (
            table.column(name).to_numpy(zero_copy_only=False) for name in ("method", "query_id")
        )
        self.gamma, self.weights = table.column("gamma").to_numpy(), list_matrix(table.column("weights"))

    def of(self, method: str, part: Judged, gamma: float) -> FloatArray:
        """Weights for every query of ``part``, shape (n_queries, n_rankers)."""
        rows = np.flatnonzero((self.method == method) & (self.gamma == gamma))
        if len(rows) == 1 and self.query_id[rows[0]] == "":
            return np.broadcast_to(self.weights[rows[0]], (part.n_queries, self.weights.shape[1]))
        return self.weights[rows[rows_of(part.query_id, self.query_id[rows])]]


@dataclass(frozen=True)
class Scored:
    """Methods of a fold with their chosen gammas.

    Attributes
    ----------
    scores : of the test documents, by method
    rankers : the methods, for new queries
    choices : the artifact ``choices``
    sweep : measures for every method, gamma, and query of validation and test
    """

    scores: dict[str, FloatArray]
    rankers: dict[str, EnsembleRanker]
    choices: pa.Table
    sweep: pa.Table


def score_fold(name: str, fold: EnsembleFold, bank: WeightBank) -> Scored:
    """Measure every gamma, choose one per method on validation, and score the test documents with it."""
    test = fold.documents.parts["test"]
    scores: dict[str, FloatArray] = {}
    rankers: dict[str, EnsembleRanker] = {}
    choices, sweep = [], []
    for ties in TIE_RULES:
        models = fold.models(ties)
        for base, model in models.items():
            method = with_ties(base, ties)
            scores[method] = scores_by(test, bank.of(method, test, 0.0))
            rankers[method] = EnsembleRanker(learner=model)
        for base in PATHS:
            method = with_ties(base, ties)
            by_gamma = _test_scores(fold, bank, method)
            values = _validation_values(fold, bank, method)
            sweep += [_swept(name, fold, method, values), _swept_test(name, fold, method, by_gamma)]
            gamma, rows = _chosen(name, fold, method, values)
            scores[method], rankers[method] = by_gamma[gamma], _ranker(fold, models, base, gamma)
            choices += rows
            if base in _FIXED:
                method, gamma = with_ties(f"{base}-fixed", ties), float(fold.options.gamma)
                scores[method], rankers[method] = by_gamma[gamma], _ranker(fold, models, base, gamma)
        choices += _tuned_choices(name, fold, ties)
    return Scored(scores, rankers, pa.Table.from_pylist(choices), pa.concat_tables(sweep))


def write_scores(
    files: Mapping[str, Any], out: Mapping[str, str], fold: str, *, log: Callable[..., None], **given: Any
) -> None:
    """Gather the weights of a fold, measure every gamma, and write scores and rankers with the chosen ones.

    Without shards all programs are solved here. ``given`` as for `load_ensemble_fold`.
    """
    study = load_ensemble_fold(files["judged"], fold, **given)
    documents = study.documents
    shards = [read(path, ENSEMBLES_SHAPE) for path in files["shards"]]
    shards = shards or [conform(solve_shard(study, shard=0, n_shards=1), ENSEMBLES_SHAPE)]
    weights = gathered_weights(shards, documents)
    write(out["weights"], ENSEMBLES_SHAPE, weights)
    scored = score_fold(fold, study, WeightBank(weights))
    write(out["sweep"], "figure", scored.sweep)
    write(out["choices"], "choices", scored.choices)
    for row in scored.choices.to_pylist():
        if row["chosen"]:
            log("%s: %s, %s %.4f", row["method"], row["setting"], row["measure"], row["value"])
    view, test = documents.view(scaled=False), documents.parts["test"]
    for method, scores in scored.scores.items():
        served = ServedRanker(method=method, fold=fold, documents=view, ranker=scored.rankers[method])
        write_method(out[method], out[f"served_{method}"], served, test, scores)


def _ranker(fold: EnsembleFold, models: dict[str, SSER], base: str, gamma: float) -> EnsembleRanker:
    """A method of `PATHS` with the chosen gamma."""
    varying = base == "sser-varying"
    return EnsembleRanker(
        learner=models.get(base.replace("sser", "ser"), models["ser"]),
        gammas=fold.options.path,
        gamma=gamma,
        printed=base == "sser-printed",
        mask=np.where(fold.constant(), 0.0, 1.0) if varying else None,
        others=fold.seed_of_others("test") if base == "sser-other" else None,
    )


#: Methods that also run with the fixed gamma.
_FIXED = ("sser", "sser-other")

_Values = dict[float, dict[str, FloatArray]]
"""Measures (n_queries,) by gamma and name."""


def _test_scores(fold: EnsembleFold, bank: WeightBank, method: str) -> dict[float, FloatArray]:
    """Scores of the test documents (n_documents,) by gamma."""
    part = fold.documents.parts["test"]
    return {gamma: scores_by(part, bank.of(method, part, gamma)) for gamma in fold.options.path}


def _validation_values(fold: EnsembleFold, bank: WeightBank, method: str) -> _Values:
    """Measures on validation for every gamma; empty without validation queries."""
    part, names = fold.documents.parts["vali"], [*SWEPT, fold.measure]
    gammas = fold.options.path if part.n_queries else []
    return {gamma: fold.validation.measured(names, scores_by(part, bank.of(method, part, gamma))) for gamma in gammas}


def _chosen(name: str, fold: EnsembleFold, method: str, values: _Values) -> tuple[float, list[dict[str, Any]]]:
    """The gamma that validation chooses, or the fixed one if it cannot, and rows of the artifact ``choices``."""
    none = np.array([np.nan])
    eligible = fold.options.eligible if values else [float(fold.options.gamma)]
    choice = choose((gamma, values[gamma][fold.measure] if values else none) for gamma in eligible)
    return choice.chosen, choice_rows(name, method, [f"gamma={gamma:g}" for gamma in eligible], choice, fold.measure)


def _tuned_choices(name: str, fold: EnsembleFold, ties: Ties) -> list[dict[str, Any]]:
    choice = fold.tuned(ties)[1]
    settings = [" ".join(f"{key}={value:g}" for key, value in changed.items()) for changed in fold.options.tried()]
    return [] if choice is None else choice_rows(name, with_ties("ser-tuned", ties), settings, choice, fold.measure)


def _swept(name: str, fold: EnsembleFold, method: str, values: _Values, role: str = "vali") -> pa.Table:
    """Rows of the sweep: ``values`` of every gamma and query of a role."""
    part, gammas = fold.documents.parts[role], list(values)
    columns = repeated(part.n_queries * len(gammas), fold=name, role=role, method=method)
    columns |= {"gamma": pa.array(np.repeat(np.array(gammas, dtype=np.float64), part.n_queries))}
    columns |= {"query_id": pa.array(np.tile(part.query_id, len(gammas)), pa.string())}
    measured = {key: np.concatenate([*(values[gamma][key] for gamma in gammas), np.empty(0)]) for key in SWEPT}
    return pa.table(columns | measured)


def _swept_test(name: str, fold: EnsembleFold, method: str, by_gamma: dict[float, FloatArray]) -> pa.Table:
    test = fold.documents.parts["test"]
    values = {
        gamma: measure(SWEPT, test.y, scores, test.offsets, unranked=test.unranked)
        for gamma, scores in by_gamma.items()
    }
    return _swept(name, fold, method, values, "test")
