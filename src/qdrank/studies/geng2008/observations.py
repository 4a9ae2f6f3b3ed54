"""Observations for the claims of Geng 2008 in the results of a data set: values per test query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation.observations import Observations, method_difference
from qdrank.evaluation.values import Values
from qdrank.layout import FloatArray
from qdrank.learners.choose import choose
from qdrank.learners.regularised import most_regularised_first
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.studies.geng2008.claims import DIFFERENCES, FLAT, NEIGHBOURS, PAPERS_K
from qdrank.studies.geng2008.curves import Curve, curve
from qdrank.studies.geng2008.methods import KNN, MEASURE, OFFLINE
from qdrank.studies.geng2008.query_classes import K_MEANS, Classes
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE, SWEEP_SHAPE
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pa.Table, Observations]:
    """Observations of one data set from its artifacts."""
    classes = inputs.tables("classes", CLASSES_SHAPE)
    files = [map(load_queries, inputs.files["queries"]), (load_neighbours(f)[1] for f in inputs.files["neighbours"])]
    claims = observations(
        inputs.table("measures", "measures"),
        inputs.table("sweeps", SWEEP_SHAPE),
        inputs.table("bounds", "figure"),
        locality_observations(dict(zip(shown.folds, zip(*files, classes, strict=True), strict=True))),
        shown.options["lam"],
    )
    # If only the documents of a query are known, there is no QC that sees the query alone.
    blind = not all(Classes.from_table(table).sees_queries for table in classes)
    kept = {name: contrasts for name, contrasts in claims.items() if not (blind and "qc" in DIFFERENCES.get(name, ()))}
    return inputs.table("measures", "measures"), kept


def observations(
    measures: pa.Table, sweep: pa.Table, bound: pa.Table, same_class: Values | None, lam: float
) -> Observations:
    """Observations of one data set.

    Parameters
    ----------
    measures : measures of the methods with their chosen settings
    sweep : measures for every setting, all folds
    bound : stability bound and observation, all folds
    same_class : per test query, the share of its nearest training queries of its class minus chance; None where
        classes are not the data's
    lam : lambda of the curves
    """
    single = curve(sweep, "single", MEASURE, lam=lam)
    curves = {method: curve(sweep, method, MEASURE, lam=lam) for method in KNN}
    claims = _differences(measures)
    for method, knn in curves.items():
        if (at := _place(knn, PAPERS_K)) is not None:
            claims[f"{method} - single, as the paper"] = {
                "difference": _contrast(knn, knn.values[:, at] - single.values[:, -1])
            }
        claims |= _curve_observations(sweep, method, knn, single.values[:, -1], lam)
    online = curves["knn-online"]
    if online.to_the_end:
        claims["k = m"] = {"difference": _contrast(online, online.values[:, -1] - single.values[:, -1])}
    claims |= _gamma_observations(sweep, lam)
    claims |= _bound_observations(bound)
    return claims | ({} if same_class is None else {"locality": {"difference": same_class}})


def _differences(measures: pa.Table) -> Observations:
    present = set(measures.column("method").to_pylist())
    return {
        name: {"difference": method_difference(measures, *pair, MEASURE)}
        for name, pair in DIFFERENCES.items()
        if present >= set(pair)
    }


def _contrast(of: Curve, values: FloatArray) -> Values:
    return Values(values, of.query_id, of.fold)


def _bound_observations(bound: pa.Table) -> Observations:
    limit, observed = (bound.column(name).to_numpy() for name in ("bound", "observed"))
    usable = np.isfinite(limit) & (limit > 0)
    if not usable.any():
        return {}
    ids, folds = (bound.column(name).to_numpy(zero_copy_only=False)[usable] for name in ("query_id", "fold"))
    return {"bound": {"value": Values(observed[usable] / limit[usable], ids, folds)}}


def _place(of: Curve, share: float) -> int | None:
    """Index of the k that is this share of the training queries; None if the curve has none near it."""
    apart = np.abs(of.share - share)
    return int(apart.argmin()) if apart.min() <= 0.05 else None


def _curve_observations(sweep: pa.Table, method: str, test: Curve, single: FloatArray, lam: float) -> Observations:
    """Find the best k of each fold on its validation queries, and measure the gain on its test queries.

    Test queries choose nothing, so without validation queries there are no such observations. The end of the curve, k = m,
    is Single, even if the curve stops earlier.
    """
    if "vali" not in set(sweep.column("role").to_pylist()):
        return {}
    best = _best_by_fold(curve(sweep, method, MEASURE, lam=lam, role="vali"), len(test.k))
    top = test.values[np.arange(len(test.values)), [best[fold] for fold in test.fold]]
    claims = {
        f"curve {method}": {"rise": _contrast(test, top - test.values[:, 0]), "fall": _contrast(test, top - single)}
    }
    inside = [i for i, share in enumerate(test.share) if FLAT[0] - 0.01 <= share <= FLAT[1]]
    flat = {f"k/m = {test.share[i]:.2f}": _contrast(test, test.values[:, i] - top) for i in inside}
    return claims | ({f"flat {method}": flat} if flat else {})


def _best_by_fold(vali: Curve, n: int) -> dict[str, int]:
    """Index of the best k of each fold among the last ``n`` of its curve; k is ascending."""
    best = {}
    for fold in np.unique(vali.fold):
        values = vali.values[vali.fold == fold][:, -n:]
        best[fold] = choose((i, values[:, i]) for i in most_regularised_first("k", range(n))).chosen
    return best


def _gamma_observations(sweep: pa.Table, lam: float) -> Observations:
    claims: Observations = {}
    for method in OFFLINE:
        gammas = curve(sweep, method, "gamma", lam=lam)
        claims[f"gammas {method}"] = {
            f"{k:.0f}": _contrast(gammas, v) for k, v in zip(gammas.k, gammas.values.T, strict=True)
        }
        if (at := _place(gammas, PAPERS_K)) is not None:
            claims[f"gamma {method}"] = {"value": _contrast(gammas, gammas.values[:, at])}
        if gammas.to_the_end:
            claims[f"gamma to 0 {method}"] = {"value": _contrast(gammas, gammas.values[:, -1])}
    ratios = [claims[name]["value"] for name in (f"gamma {method}" for method in OFFLINE) if name in claims]
    if len(ratios) == 2:
        claims["gamma order"] = {
            "difference": Values(ratios[1].value - ratios[0].value, ratios[0].query_id, ratios[0].fold)
        }
    return claims


def locality_observations(folds: Mapping[str, tuple[Queries, NDArray[Any], pa.Table]]) -> Values | None:
    """`same_class_share` of the test queries of all folds; None where classes are made from the vectors themselves.

    ``folds`` has the queries, their nearest training queries and the artifact ``classes`` of every fold.
    """
    if any(K_MEANS in classes.column("origin")[0].as_py() for _, _, classes in folds.values()):
        return None
    shares = [(name, *_shares(*of_fold)) for name, of_fold in folds.items()]
    values, ids = (np.concatenate([of_fold[i] for of_fold in shares]) for i in (1, 2))
    return Values(values, ids, np.concatenate([[name] * len(of_fold) for name, of_fold, _ in shares]))


def _shares(queries: Queries, nearest: NDArray[Any], classes: pa.Table) -> tuple[FloatArray, NDArray[Any]]:
    """`same_class_share` of the test queries of one fold, and their ids."""
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in kinds]))
    return same_class_share(nearest[rows], kinds[queries.is_train], kinds[rows]), queries.query_id[rows]


def same_class_share(
    nearest: NDArray[Any], train_classes: NDArray[Any], classes: NDArray[Any], k: int = NEIGHBOURS
) -> FloatArray:
    """Share of the k nearest training queries that have the query's class, minus the share by chance, (n_queries,)."""
    same = (train_classes[nearest[:, :k]] == classes[:, None]).mean(axis=1)
    names, counts = np.unique(train_classes.astype(str), return_counts=True)
    known: Mapping[str, float] = dict(zip(names.tolist(), (counts / len(train_classes)).tolist(), strict=True))
    return np.asarray(same - np.array([known.get(str(kind), 0.0) for kind in classes]))
