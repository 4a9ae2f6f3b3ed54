"""Observations for the claims of Geng 2008 that no difference of two methods decides: values per test query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation.observations import Observations
from qdrank.evaluation.values import Values
from qdrank.layout import FloatArray
from qdrank.learners.choose import choose
from qdrank.learners.regularised import most_regularised_first
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.studies.geng2008.claims import FLAT, NEIGHBOURS, PAPERS_K
from qdrank.studies.geng2008.curves import along_k, curve
from qdrank.studies.geng2008.methods import KNN, MEASURE, OFFLINE
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, K_MEANS, Classes
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Measures of the methods, and the study's own observations."""
    classes = inputs.tables("classes", CLASSES_SHAPE)
    files = [map(load_queries, inputs.files["queries"]), (load_neighbours(f)[1] for f in inputs.files["neighbours"])]
    local = locality_observations(dict(zip(shown.folds, zip(*files, classes, strict=True), strict=True)))
    measures = inputs.frame("measures", "measures")
    if not all(Classes.from_table(table).sees_queries for table in classes):
        # If only the documents of a query are known, there is no QC that sees the query alone.
        measures = measures[measures["method"] != "qc"]
    own = observations(inputs.frame("values", "values"), inputs.frame("bounds", "figure"))
    return measures, own | ({} if local is None else {"locality": {"difference": local}})


def observations(values: pd.DataFrame, bound: pd.DataFrame) -> Observations:
    """Observations along k.

    Parameters
    ----------
    values : measures and change ratios along k, all folds
    bound : stability bound and observation, all folds
    """
    along = along_k(values)
    single = curve(along, "single", MEASURE).iloc[:, -1]
    vali = along_k(values, "vali") if "vali" in set(values["role"]) else None
    claims = _bound_observations(bound) | _gamma_observations(along)
    for method in KNN:
        knn = curve(along, method, MEASURE)
        if (at := _place(knn, PAPERS_K)) is not None:
            claims[f"{method} - single, as the paper"] = {"difference": Values.of(knn.iloc[:, at] - single)}
        if vali is not None:  # test queries choose nothing
            claims |= _curve_observations(method, knn, curve(vali, method, MEASURE), single)
    online = curve(along, "knn-online", MEASURE)
    if _to_the_end(online):
        claims["k = m"] = {"difference": Values.of(online.iloc[:, -1] - single)}
    return claims


def _bound_observations(bound: pd.DataFrame) -> Observations:
    usable = bound[np.isfinite(bound["bound"]) & (bound["bound"] > 0)]
    ratio = usable["observed"] / usable["bound"]
    return {"bound": {"value": Values(ratio, usable["query_id"], usable["fold"])}} if len(usable) else {}


def _shares_of(curve: pd.DataFrame) -> FloatArray:
    """Its k as shares of the training queries."""
    return curve.columns.get_level_values("share").to_numpy(dtype=float)


def _to_the_end(curve: pd.DataFrame) -> bool:
    """Whether the last k covers all training queries in every fold."""
    return bool(_shares_of(curve)[-1] == 1)


def _place(curve: pd.DataFrame, share: float) -> int | None:
    """Place of the k that is this share of the training queries; None if the curve has none near it."""
    apart = np.abs(_shares_of(curve) - share)
    return int(apart.argmin()) if apart.min() <= 0.05 else None


def _curve_observations(method: str, test: pd.DataFrame, vali: pd.DataFrame, single: pd.Series) -> Observations:
    """Find the best k of each fold on its validation queries, and measure the gain on its test queries.

    The end of the curve, k = m, is Single, even if the curve stops earlier.
    """
    best, of_test, n = {}, test.to_numpy(), test.shape[1]
    for fold, of_fold in vali.groupby("fold"):
        values = of_fold.to_numpy()[:, -n:]
        best[fold] = choose((i, values[:, i]) for i in most_regularised_first("k", range(n))).chosen
    places = [best[fold] for fold in test.index.get_level_values("fold")]
    top = pd.Series(of_test[np.arange(len(test)), places], test.index)
    claims = {f"curve {method}": {"rise": Values.of(top - test.iloc[:, 0]), "fall": Values.of(top - single)}}
    inside = [i for i, share in enumerate(_shares_of(test)) if FLAT[0] - 0.01 <= share <= FLAT[1]]
    flat = {f"k/m = {_shares_of(test)[i]:.2f}": Values.of(test.iloc[:, i] - top) for i in inside}
    return claims | ({f"flat {method}": flat} if flat else {})


def _gamma_observations(along: pd.DataFrame) -> Observations:
    claims: Observations = {}
    ratios = []
    for method in OFFLINE:
        gammas = curve(along, method, "gamma")
        claims[f"gammas {method}"] = {
            f"{k:.0f}": Values.of(gammas.iloc[:, i]) for i, k in enumerate(gammas.columns.get_level_values("k"))
        }
        if (at := _place(gammas, PAPERS_K)) is not None:
            ratios.append(gammas.iloc[:, at])
            claims[f"gamma {method}"] = {"value": Values.of(ratios[-1])}
        if _to_the_end(gammas):
            claims[f"gamma to 0 {method}"] = {"value": Values.of(gammas.iloc[:, -1])}
    if len(ratios) == 2:
        claims["gamma order"] = {"difference": Values.of(ratios[1] - ratios[0])}
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
