"""The methods of Geng 2008 and their controls on one fold: scores for every setting, and the choice of a setting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import ValidationQueries, choice_rows, choose
from qdrank.learners.regularised import most_regularised_first
from qdrank.measures.compute import measure
from qdrank.queries.artifacts import Queries
from qdrank.rankers.documents import FoldDocuments, query_scores
from qdrank.rankers.sizes import Setting
from qdrank.store.lists import repeated
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import ModelBank
from qdrank.studies.geng2008.methods import GLOBAL, LOCAL, OFFLINE
from qdrank.studies.geng2008.offline import OfflineModels
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import Classes

#: What is measured for every setting.
SWEPT = ("mean_ndcg/geng", "ndcg@5/geng", "ndcg@10/geng")


@dataclass(frozen=True, kw_only=True)
class FoldQueries:
    """The queries of a fold, their documents, and the ready models that the offline methods use for them."""

    documents: FoldDocuments
    queries: Queries
    offline: OfflineModels
    options: Options

    @cached_property
    def m(self) -> int:
        """Number of training queries."""
        return int(self.queries.is_train.sum())

    def rows(self, role: str) -> IntArray:
        """Rows of the queries of a role."""
        return np.flatnonzero(self.queries.role == role)


@dataclass(frozen=True, kw_only=True)
class GengFold(FoldQueries):
    """What the methods need to know about a fold: its queries, the models, and the classes for QC.

    ``seed`` decides the order of tied validation documents.
    """

    local: ModelBank
    whole: GlobalModels
    classes: Classes
    seed: int

    @cached_property
    def methods(self) -> list[str]:
        """Methods for which there are models."""
        return [*GLOBAL, *(method for method, neighbourhood in LOCAL.items() if self.local.settings(neighbourhood))]

    def settings(self, method: str) -> list[Setting]:
        """Settings for which a method has models; a model of all queries has k = m."""
        if method in LOCAL:
            return self.local.settings(LOCAL[method])
        return [Setting(self.m, lam) for lam in most_regularised_first("lam", self.whole.lambdas)]

    def eligible(self, method: str) -> list[Setting]:
        """Settings that validation chooses from; only the fixed one if so configured or if there is no other."""
        fixed = self.options.choose == "fixed" or len(self.rows("vali")) == 0
        if method not in LOCAL:
            return [Setting(self.m, self.options.lam)] if fixed else self.settings(method)
        return [self.options.fixed(self.m)] if fixed else self.options.eligible(self.m)

    def weights(self, role: str, method: str, setting: Setting) -> FloatArray:
        """Weights for every query of a role, shape (n_queries, n_features)."""
        rows = self.rows(role)
        if method.startswith("qc"):
            guess = self.classes.from_documents if method == "qc-documents" else self.classes.guess
            return self.whole.by_class(guess[rows], setting.lam)
        if method not in LOCAL:
            w = self.whole.weights(method, setting.lam)
            return np.broadcast_to(w, (len(rows), len(w)))
        offline = method in OFFLINE
        served = self.offline.models(role, method, setting.k) if offline else self.queries.query_id[rows]
        return self.local.weights(LOCAL[method], setting, served)

    def scores(self, role: str, method: str, settings: Sequence[Setting]) -> Iterator[tuple[Setting, FloatArray]]:
        """Scores of the documents of a role, shape (n_documents,), for every setting."""
        W = np.stack([self.weights(role, method, setting) for setting in settings])
        yield from zip(settings, query_scores(self.documents.parts[role], W), strict=True)


def sweep_table(fold: str, study: GengFold, names: Sequence[str] = SWEPT) -> pa.Table:
    """Measures of validation and test queries for every method and setting; the artifact ``sweep``."""
    tables = []
    for role in ("vali", "test"):
        part = study.documents.parts[role]
        measured = _measuring(role, part, names, study.seed)
        for method in study.methods if part.n_queries else ():
            for setting, scores in study.scores(role, method, study.settings(method)):
                known = method in OFFLINE
                gamma = study.offline.gamma(role, method, setting.k) if known else np.full(part.n_queries, np.nan)
                texts = {"fold": fold, "role": role, "method": method}
                tables.append(_swept(texts, setting, part, measured(scores) | {"gamma": gamma}))
    return pa.concat_tables(tables)


def _measuring(
    role: str, part: Judged, names: Sequence[str], seed: int
) -> Callable[[FloatArray], dict[str, FloatArray]]:
    """From scores to measures: as used to compare settings for validation queries, as reported for test queries."""
    if role == "vali":
        queries = ValidationQueries.of(part, measure=names[0], seed=seed)
        return lambda scores: queries.measured(names, scores)
    return lambda scores: measure(names, part.y, scores, part.offsets, unranked=part.unranked)


def _swept(texts: Mapping[str, str], setting: Setting, part: Judged, values: Mapping[str, FloatArray]) -> pa.Table:
    n = part.n_queries
    columns = repeated(n, **texts, k=setting.k, lam=setting.lam)
    return pa.table(columns | {"query_id": pa.array(part.query_id, pa.string())} | dict(values))


def choose_settings(fold: str, study: GengFold, sweep: pa.Table, by: str) -> tuple[dict[str, Setting], pa.Table]:
    """Setting of every method, chosen by the mean of ``by`` on validation; artifact ``choices``."""
    means = _validation_means(sweep, by)
    chosen: dict[str, Setting] = {}
    rows: list[dict[str, Any]] = []
    for method in study.methods:
        eligible = study.eligible(method)
        choice = choose((setting, means.get((method, *setting), float("nan"))) for setting in eligible)
        chosen[method] = choice.chosen
        ks, lams = zip(*eligible, strict=True)
        rows += choice_rows(fold, method, [setting.text for setting in eligible], choice, by, k=ks, lam=lams)
    return chosen, pa.Table.from_pylist(rows)


def _validation_means(sweep: pa.Table, by: str) -> dict[tuple[str, int, float], float]:
    import pyarrow.compute as pc

    vali = sweep.filter(pc.equal(sweep.column("role"), "vali"))
    means = vali.group_by(["method", "k", "lam"], use_threads=False).aggregate([(by, "mean")])
    return {(r["method"], r["k"], r["lam"]): r[f"{by}_mean"] for r in means.to_pylist()}


def chosen_settings(choices: pa.Table) -> dict[tuple[str, str], Setting]:
    """The settings that the artifact ``choices`` says were chosen, by fold and method."""
    chosen = [row for row in choices.to_pylist() if row["chosen"]]
    return {(row["fold"], row["method"]): Setting(row["k"], row["lam"]) for row in chosen}
