"""Settings tried on validation, the choice, and the results of the chosen settings on test queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import choose
from qdrank.measures.compute import measure
from qdrank.store.lists import list_column, repeated
from qdrank.studies.lin2011.bank import Key
from qdrank.studies.lin2011.controls import Perturbed, directions, matched, ranked
from qdrank.studies.lin2011.fold import ClusterSetting, LinFold, model_scores, scores_for
from qdrank.studies.lin2011.methods import ALGORITHMS, NAIVE, RANKSVM, Algorithm
from qdrank.studies.lin2011.options import Grid

Values = dict[ClusterSetting, float]
"""Validation MAP by setting, in the order tried."""


def validated(fold: LinFold, methods: Mapping[str, Algorithm], seed: int, grid: Grid) -> dict[str, Values]:
    """Validation MAP of every setting of methods with the same clusters, for one seed of these."""
    values: dict[str, Values] = {name: {} for name in methods}
    (scheme,) = {method.scheme for method in methods.values()}
    for m, lam in grid.models:
        local = fold.local(fold.validation, Key(scheme, seed, m), lam)
        for name, method in methods.items():
            for size, scores in scores_for(local, method.kind, grid.sizes(method), method.weights).items():
                values[name][ClusterSetting(m, lam, size)] = fold.validation_queries.mean(scores)
    return values


def best(values: Values, m: int | None = None) -> ClusterSetting:
    """The setting that validation chooses; with ``m``, only among those with ``m`` clusters."""
    return choose(item for item in values.items() if m is None or item[0].m == m).chosen


@dataclass(frozen=True)
class Swept:
    """Validation MAP by method and seed."""

    values: Mapping[tuple[str, int], Values]

    def chosen(self, method: str, seed: int, m: int | None = None) -> ClusterSetting:
        """Setting that validation chooses."""
        return best(self.values[method, seed], m)


def sweep(fold: LinFold, grid: Grid, methods: Mapping[str, Algorithm] = ALGORITHMS) -> Swept:
    """Validation MAP of every method and seed that has clusters."""
    known = {name: one for name, one in methods.items() if one.scheme in fold.bank.schemes}
    values: dict[tuple[str, int], Values] = {}
    for scheme in dict.fromkeys(one.scheme for one in known.values()):
        alike = {name: one for name, one in known.items() if one.scheme == scheme}
        for seed in fold.bank.seeds:
            values |= {(name, seed): tried for name, tried in validated(fold, alike, seed, grid).items()}
    return Swept({(name, seed): values[name, seed] for name in known for seed in fold.bank.seeds})


# ---- on test queries ---------------------------------------------------------------------------------------------


def test_scores(fold: LinFold, method: Algorithm, seed: int, setting: ClusterSetting) -> FloatArray:
    """Scores of the test documents by a method with one setting, shape (n_documents,)."""
    local = fold.local("test", Key(method.scheme, seed, setting.m), setting.lam)
    return scores_for(local, method.kind, [setting.size], method.weights)[setting.size]


def seed_measures_table(name: str, fold: LinFold, swept: Swept, names: Sequence[str]) -> pa.Table:
    """Measures of RankSVM and of every method and seed with its chosen setting, one row per test query."""
    test = fold.roles["test"]
    tables = [_measured(name, RANKSVM, 0, fold, test.single, names)]
    for method, seed in swept.values:
        scores = test_scores(fold, ALGORITHMS[method], seed, swept.chosen(method, seed))
        tables.append(_measured(name, method, seed, fold, scores, names))
    return pa.concat_tables(tables)


def _measured(name: str, method: str, seed: int, fold: LinFold, scores: FloatArray, names: Sequence[str]) -> pa.Table:
    part = fold.roles["test"].part
    columns = _heads(name, method, seed, part.query_id)
    return pa.table(columns | measure(names, part.y, scores, part.offsets, unranked=part.unranked))


def _heads(fold: str, method: str, seed: int, query_id: Any) -> dict[str, Any]:
    ids = {"query_id": pa.array(query_id, pa.string())}
    return repeated(len(query_id), fold=fold, method=method, seed=seed) | ids


def first_methods(swept: Swept) -> Iterator[tuple[str, int, ClusterSetting]]:
    """Every method with the first seed of its clusters and the setting chosen for it."""
    first = min(seed for _, seed in swept.values)
    for method, seed in swept.values:
        if seed == first:
            yield method, seed, swept.chosen(method, seed)


def all_choices(name: str, swept: Swept, single: pa.Table) -> pa.Table:
    """The artifact ``choices`` of RankSVM and of the methods with clusters."""
    return pa.concat_tables([single, seed_choices(name, swept)], promote_options="permissive")


def seed_choices(name: str, swept: Swept) -> pa.Table:
    """The artifact ``choices`` of the methods with clusters."""
    rows = []
    for (method, seed), values in swept.values.items():
        chosen = best(values)
        for setting, value in values.items():
            row = {"fold": name, "method": method, "setting": text(ALGORITHMS[method], seed, setting), "measure": "ap"}
            rows.append(row | {"k": setting.m, "lam": setting.lam, "value": value, "chosen": setting == chosen})
    return pa.Table.from_pylist(rows)


def text(method: Algorithm, seed: int, setting: ClusterSetting) -> str:
    """A setting as shown in tables."""
    size = f" {method.size}={setting.size}" if method.size else ""
    return f"seed={seed} m={setting.m} lambda={setting.lam!r}{size}"


# ---- Figures 2 and 3 ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curves:
    """Average precisions of the test queries along the number of clusters, and those of all models at one number.

    Attributes
    ----------
    curve : columns fold, method, seed, m, query_id, ap
    ranked : columns fold, models, seed, query_id, single (RankSVM's), and the vector ap, best first
    controls : how well the perturbed models match the local ones, one row per seed and number of clusters
    """

    curve: pa.Table
    ranked: pa.Table
    controls: pa.Table


def curves(name: str, fold: LinFold, swept: Swept, grid: Grid, ranked_m: int) -> Curves:
    """All data of Figures 2 and 3, each method with the settings that validation chose for the number of clusters."""
    curve, order, control = [], [], []
    test = fold.roles["test"]
    single = test.ap(test.single[None])[0]
    for seed in fold.bank.seeds:
        for m in sorted(grid.ms):
            of_methods = dict(_aps(fold, swept, seed, m))
            models = dict(_models(fold, swept, seed, m))
            control.append(_control_row(name, fold, seed, m, models))
            upper = {f"upper-bound{kind}": ap.max(axis=0) for kind, ap in _test_aps(fold, models).items()}
            for method, ap in {RANKSVM: single, **of_methods, **upper}.items():
                columns = _heads(name, method, seed, test.part.query_id)
                curve.append(pa.table(columns | {"m": np.full(len(ap), m, dtype=np.int32), "ap": ap}))
            if m == ranked_m:
                order += [_ranked(name, kind, seed, fold, ap, single) for kind, ap in _test_aps(fold, models).items()]
    return Curves(pa.concat_tables(curve), pa.concat_tables(order), pa.Table.from_pylist(control))


def _aps(fold: LinFold, swept: Swept, seed: int, m: int) -> Iterator[tuple[str, FloatArray]]:
    """Average precisions on the test queries at one number of clusters: methods with their own weights, RelevantOnly."""
    for method, of_seed in swept.values:
        one = ALGORITHMS[method]
        if of_seed != seed or one.weights != "own":
            continue
        setting = swept.chosen(method, seed, m)
        local = fold.local("test", Key(one.scheme, seed, m), setting.lam)
        scores = scores_for(local, one.kind, [setting.size])[setting.size]
        yield method, local.role.ap(scores[None])[0]
        if method == NAIVE:
            yield "relevant-only", local.ap_of(local.relevant_only())


Models = dict[str, FloatArray | Perturbed]


def _models(fold: LinFold, swept: Swept, seed: int, m: int) -> Iterator[tuple[str, FloatArray | Perturbed]]:
    """Weights of the local models with Naive's lambda, of random clusters, and of perturbed global models."""
    lam = swept.chosen(NAIVE, seed, m).lam
    local = fold.local(fold.validation, Key("pairs", seed, m), lam)
    queries, X = fold.validation_queries, fold.roles[fold.validation].X
    yield "", local.weights
    if "pairs-random" in fold.bank.schemes:
        yield "-random", fold.bank.weights(Key("pairs-random", seed, m), lam)
    # isotropic on the learner's scale, where features are comparable
    steps = directions(m, len(fold.single), seed=int(np.random.SeedSequence([fold.base, seed]).generate_state(1)[0]))
    inverse = fold.documents.inverse
    learned = np.where(inverse > 0, fold.single / np.where(inverse > 0, inverse, 1.0), 0.0)
    perturbed = matched(
        learned,
        steps,
        lambda W: queries.mean(model_scores(X, W * inverse).T),
        queries.mean(local.scores.T),
    )
    yield "-perturbed", Perturbed(perturbed.W * inverse, perturbed.size, perturbed.wanted, perturbed.reached)


def _weights(models: FloatArray | Perturbed) -> FloatArray:
    return models.W if isinstance(models, Perturbed) else models


def _test_aps(fold: LinFold, models: Models) -> dict[str, FloatArray]:
    test = fold.roles["test"]
    return {kind: test.ap(model_scores(test.X, _weights(one))) for kind, one in models.items()}


def _control_row(name: str, fold: LinFold, seed: int, m: int, models: Models) -> dict[str, Any]:
    perturbed = models["-perturbed"]
    assert isinstance(perturbed, Perturbed)
    aps = {kind: float(ap.mean()) for kind, ap in _test_aps(fold, models).items()}
    row: dict[str, Any] = {"fold": name, "seed": seed, "m": m, "size": perturbed.size, "wanted": perturbed.wanted}
    row |= {"reached": perturbed.reached, "test_local": aps[""], "test_perturbed": aps["-perturbed"]}
    return row | {"test_random": aps.get("-random", float("nan"))}


def _ranked(name: str, kind: str, seed: int, fold: LinFold, ap: FloatArray, single: FloatArray) -> pa.Table:
    columns = _heads(name, f"local{kind}", seed, fold.roles["test"].part.query_id)
    columns["models"] = columns.pop("method")
    order: Sequence[str] = ("fold", "models", "seed", "query_id")
    assert len(ap.T) == len(single)
    return pa.table({key: columns[key] for key in order} | {"single": single, "ap": list_column(ranked(ap))})


# ---- clusters, counted -------------------------------------------------------------------------------------------


def clusters_summary(name: str, fold: LinFold) -> pa.Table:
    """One row per clustering and lambda: clusters, empty ones, those that fell back to the global model, their sizes."""
    rows = []
    for key, lam, table in fold.bank.models():
        clusters = fold.bank.clusters(key)
        pairs = table.column("pairs").to_numpy()
        row = {"fold": name, "scheme": key.scheme, "seed": key.seed, "clusters": key.m, "lam": lam}
        row |= {"empty": int(np.isnan(clusters.centres[:, 0]).sum()), "fallback": int((pairs == 0).sum())}
        queries: IntArray = np.bincount(clusters.cluster, minlength=key.m)
        row |= {"queries_mean": float(queries.mean()), "queries_least": int(queries.min())}
        rows.append(
            row | {"queries_most": int(queries.max()), "largest_gap": float(table.column("gap").to_numpy().max())}
        )
    return pa.Table.from_pylist(rows)
