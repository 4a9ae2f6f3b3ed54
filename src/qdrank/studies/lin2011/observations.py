"""Evidence for the claims of Lin 2011 in the results of a data set: values per test query and seed of the clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.difficulty import Difficulty, difficulty
from qdrank.evaluation.observations import Observations
from qdrank.evaluation.pairs import fit_values, fold_of, query_values
from qdrank.evaluation.values import Values, difference
from qdrank.layout import FloatArray, rows_of
from qdrank.store.lists import list_matrix
from qdrank.studies.lin2011.claims import AROUND, BY_CLASS, MEASURE, PLACE, RANKS, TABLE2
from qdrank.studies.lin2011.methods import AGGREGATING, NAIVE, PAPER, RANKSVM
from qdrank.studies.making import Inputs, Shown

_AGGREGATORS = ("bordacount", "cps-kendall", "cps-footrule", "cps-spearman")


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Observations of one data set from its artifacts."""
    return inputs.frame("baselines", "measures"), observations(
        inputs.table("values", "values"),
        inputs.table("ranked", "figure"),
        difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"]),
        inputs.table("baselines", "measures"),
    )


def observations(
    every: pa.Table, ranked: pa.Table, classes: Difficulty, baselines: pa.Table | None = None
) -> Observations:
    """Observations of one data set.

    Parameters
    ----------
    every : values of the study's methods; each seed of the clusters is a fit
    ranked : average precisions of all models of a clustering, best first
    classes : difficulty of the queries
    baselines : measures of classic methods on the same queries
    """
    values = every.filter(pc.is_null(every.column("x")))
    folds = fold_of(values)
    claims = _differences(values) | _most_measures(values, folds) | _by_class(values, classes, folds)
    claims |= _oracles(every) | _place(ranked, folds)
    return claims | ({} if baselines is None else _against_aggregators(values, baselines, folds))


def _contrast(values: FloatArray, ids: NDArray[np.object_], folds: dict[str, str]) -> Values:
    """A contrast from values (n_queries, n_fits)."""
    return Values(values, ids, np.array([folds[query] for query in ids], dtype=object))


def _present(values: pa.Table, *methods: str) -> bool:
    return set(methods) <= set(values.column("method").to_pylist())


def _differences(values: pa.Table) -> Observations:
    pairs = {f"{a} - {RANKSVM}": (a, RANKSVM) for a in PAPER}
    pairs |= {f"{a} - {NAIVE}": (a, NAIVE) for a in AGGREGATING}
    controls = [(a, kind) for kind in ("random", "other", "uniform") for a in PAPER if _present(values, f"{a}-{kind}")]
    pairs |= {f"{a} - {kind}": (a, f"{a}-{kind}") for a, kind in controls}
    return {name: {"difference": difference(values.to_pandas(), *pair, MEASURE)} for name, pair in pairs.items()}


def _most_measures(values: pa.Table, folds: dict[str, str]) -> Observations:
    """Share of the measures on which a query is above RankSVM, minus the share on which it is below."""
    names = [name for name in TABLE2 if name in values.column_names]
    claims: Observations = {}
    for method in AGGREGATING:
        ids = query_values(values, [method], names[0])[0]
        apart = np.stack([difference(values.to_pandas(), method, RANKSVM, name).value for name in names])
        claims[f"most {method}"] = {"difference": _contrast(np.sign(apart.round(12)).mean(axis=0), ids, folds)}
    return claims


def _by_class(values: pa.Table, classes: Difficulty, folds: dict[str, str]) -> Observations:
    claims: Observations = {}
    for method in AGGREGATING:
        ids, ap = fit_values(values, [method, RANKSVM], MEASURE)
        class_of = classes.of(ids)
        for name, sign in BY_CLASS.items():
            inside = class_of == name
            if inside.any():
                apart = sign * (ap[inside, :, 0] - ap[inside, :, 1])
                claims[f"{name} {method}"] = {"difference": _contrast(apart, ids[inside], folds)}
    return claims


def _oracles(values: pa.Table) -> Observations:
    """The oracles at the largest number of clusters."""
    at_most = values.filter(pc.equal(values.column("x"), pc.max(values.column("x"))))
    pairs = {
        "relevant-only": ("relevant-only", RANKSVM),
        "upper-bound - perturbed": ("upper-bound", "upper-bound-perturbed"),
        "upper-bound - random": ("upper-bound", "upper-bound-random"),
    }
    claims = {
        name: {"difference": difference(at_most.to_pandas(), *pair, MEASURE)}
        for name, pair in pairs.items()
        if _present(at_most, *pair)
    }
    return claims | {"upper-bound": {"value": difference(at_most.to_pandas(), "upper-bound", RANKSVM, MEASURE)}}


def _place(ranked: pa.Table, folds: dict[str, str]) -> Observations:
    """RankSVM against the models at two places; empty unless there are a hundred models."""
    seeds = [
        mean_ranked(ranked.filter(pc.equal(ranked.column("seed"), seed)), "local")
        for seed in sorted(set(ranked.column("seed").to_pylist()))
    ]
    if any(best.shape[1] != 100 for _, best, _ in seeds):
        return {}
    ids = seeds[0][0]
    rise = np.stack([best[:, PLACE - AROUND - 1] - single for _, best, single in seeds], axis=1)
    fall = np.stack([single - best[:, PLACE + AROUND - 1] for _, best, single in seeds], axis=1)
    return {"place": {"rise": _contrast(rise, ids, folds), "fall": _contrast(fall, ids, folds)}}


def mean_ranked(ranked: pa.Table, models: str) -> tuple[NDArray[np.object_], FloatArray, FloatArray]:
    """Query ids, and mean AP over the seeds: of the best, second best, ... model (n_queries, m), and of RankSVM."""
    of_models = ranked.filter(pc.equal(ranked.column("models"), models))
    ids, row = np.unique(of_models.column("query_id").to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    matrix, single = list_matrix(of_models.column("ap")), of_models.column("single").to_numpy()
    total, alone, count = np.zeros((len(ids), matrix.shape[1])), np.zeros(len(ids)), np.zeros(len(ids))
    np.add.at(total, row, matrix)
    np.add.at(alone, row, single)
    np.add.at(count, row, 1)
    return ids.astype(object), total / count[:, None], alone / count


def _against_aggregators(values: pa.Table, others: pa.Table, folds: dict[str, str]) -> Observations:
    """The methods against the aggregator with the best mean, for both readings of the ranks."""
    claims: Observations = {}
    for suffix in RANKS.values():
        known = aggregators(others, suffix)
        if not known:
            continue
        ids, ap = query_values(others, known, MEASURE)
        best = ap[:, int(ap.mean(axis=0).argmax())]
        for method in PAPER:
            own_ids, of_method = fit_values(values, [method], MEASURE)
            apart = of_method[:, :, 0] - best[rows_of(own_ids, ids), None]
            claims[f"{method} - aggregators{suffix}"] = {"value": _contrast(apart, own_ids, folds)}
    return claims


def aggregators(measures: pa.Table, suffix: str) -> Sequence[str]:
    """Aggregators that were measured, for one reading of the ranks."""
    return [name + suffix for name in _AGGREGATORS if _present(measures, name + suffix)]
