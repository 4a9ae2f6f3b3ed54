"""From the weights of a fold to scores: every gamma measured, one chosen on validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.groups import FloatArray, rows_of
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.learners.ensemble.trace_coefficients import Ties
from qdrank.learners.validation import mean_measure, shuffled_within
from qdrank.measures.compute import measure
from qdrank.store.lists import list_matrix
from qdrank.studies.hoi2008.fold import TIE_RULES, EnsembleFold
from qdrank.studies.hoi2008.methods import PATHS, TIES, with_ties

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


def scores_by(part: Judged, W: FloatArray) -> FloatArray:
    """Scores of documents, each query's by its own weights W (n_queries, n_rankers), rounded; shape (n_documents,)."""
    scores = np.empty(part.n_documents)
    for query, w in enumerate(W):
        rows = slice(part.offsets[query], part.offsets[query + 1])
        scores[rows] = rounded_scores(part.X[rows], w)
    return scores


@dataclass(frozen=True)
class Scored:
    """Methods of a fold with their chosen gammas.

    Attributes
    ----------
    scores : of the test documents, by method
    choices : the artifact ``choices``
    sweep : measures for every method, gamma, and query of validation and test
    """

    scores: dict[str, FloatArray]
    choices: pa.Table
    sweep: pa.Table


def score_fold(name: str, fold: EnsembleFold, bank: WeightBank) -> Scored:
    """Measure every gamma, choose one a method on validation, and score the test documents with it."""
    test = fold.documents.parts["test"]
    scores: dict[str, FloatArray] = {}
    choices = []
    for ties in TIE_RULES:
        for base in ("ser", "ser-tuned", "ser-varying", "ser-free"):
            method = with_ties(base, ties)
            scores[method] = scores_by(test, bank.of(method, test, 0.0))
        for base in PATHS:
            method = with_ties(base, ties)
            values = _validation_values(fold, bank, method)
            gamma = _best(fold, values)
            scores[method] = scores_by(test, bank.of(method, test, gamma))
            choices += _choices(name, method, values, gamma, fold.measure)
        fixed = float(fold.options.gamma)
        for method, base in (("sser-fixed", "sser"), ("sser-other-fixed", "sser-other")):
            scores[with_ties(method, ties)] = scores_by(test, bank.of(with_ties(base, ties), test, fixed))
        choices += _tuned_choices(name, fold, ties)
    sweep = pa.concat_tables(_sweep(name, fold, bank))
    return Scored(scores, pa.Table.from_pylist(choices, _CHOICES), sweep)


_CHOICES = pa.schema(
    [
        *((name, pa.string()) for name in ("fold", "method", "setting", "measure")),
        ("k", pa.int32()),
        ("lam", pa.float64()),
        ("value", pa.float64()),
        ("chosen", pa.bool_()),
    ]
)


def _validation_values(fold: EnsembleFold, bank: WeightBank, method: str) -> dict[float, float]:
    """Mean on validation of every gamma that may be chosen; nothing without validation queries."""
    part = fold.documents.parts["vali"]
    if not part.n_queries:
        return {}
    order = shuffled_within(part.offsets, fold.seed)
    values = {}
    for gamma in sorted(set(map(float, fold.options.gammas))):
        scores = scores_by(part, bank.of(method, part, gamma))
        values[gamma] = mean_measure(fold.measure, part.y[order], scores[order], part.offsets)
    return values


def _best(fold: EnsembleFold, values: dict[float, float]) -> float:
    """The smallest of the best gammas; the fixed one where nothing can be chosen."""
    return max(values, key=lambda gamma: (values[gamma], -gamma)) if values else float(fold.options.gamma)


def _choices(name: str, method: str, values: dict[float, float], gamma: float, by: str) -> list[dict[str, object]]:
    known = values or {gamma: float("nan")}
    row = {"fold": name, "method": method, "measure": by, "k": None, "lam": None}
    return [row | {"setting": f"gamma={g:g}", "value": value, "chosen": g == gamma} for g, value in known.items()]


def _tuned_choices(name: str, fold: EnsembleFold, ties: Ties) -> list[dict[str, object]]:
    tried = fold.tuned(ties)[1]
    best = int(np.argmax([value for _, value in tried])) if tried else -1
    row = {"fold": name, "method": with_ties("ser-tuned", ties), "measure": fold.measure, "k": None, "lam": None}
    settings = [" ".join(f"{key}={value:g}" for key, value in changed.items()) for changed, _ in tried]
    return [
        row | {"setting": text, "value": value, "chosen": i == best}
        for i, (text, (_, value)) in enumerate(zip(settings, tried, strict=True))
    ]


def _sweep(name: str, fold: EnsembleFold, bank: WeightBank, names: Sequence[str] = SWEPT) -> Iterator[pa.Table]:
    for ties in TIES:
        for base in PATHS:
            for role in ("vali", "test"):
                part = fold.documents.parts[role]
                for gamma in fold.options.path if part.n_queries else ():
                    scores = scores_by(part, bank.of(with_ties(base, ties), part, gamma))
                    texts = {"fold": name, "role": role, "method": with_ties(base, ties)}
                    columns = {key: pa.array([text] * part.n_queries, pa.string()) for key, text in texts.items()}
                    columns |= {
                        "gamma": pa.array(np.full(part.n_queries, gamma)),
                        "query_id": pa.array(part.query_id, pa.string()),
                    }
                    yield pa.table(columns | measure(names, part.y, scores, part.offsets, unranked=part.unranked))
