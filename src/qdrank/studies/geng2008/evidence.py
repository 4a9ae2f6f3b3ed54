"""Evidence for the claims of Geng 2008 in the results of a data set: values per test query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation.pairs import query_values
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import Queries, load_neighbours, load_queries
from qdrank.studies.geng2008.claims import DIFFERENCES, FLAT, MEASURE, NEIGHBOURS, PAPERS_K
from qdrank.studies.geng2008.curves import Curve, curve
from qdrank.studies.geng2008.methods import KNN, OFFLINE
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> dict[str, dict[str, FloatArray]]:
    """Evidence of one data set from its artifacts."""
    queries, (_, nearest, _) = load_queries(inputs.path("queries")), load_neighbours(inputs.path("neighbours"))
    return evidence(
        inputs.table("measures", "measures"),
        inputs.table("sweeps", "sweep"),
        inputs.table("bounds", "figure"),
        locality_evidence(queries, nearest, inputs.table("classes", "classes")),
        shown.options["lam"],
    )


def evidence(
    measures: pa.Table, sweep: pa.Table, bound: pa.Table, same_class: FloatArray | None, lam: float
) -> dict[str, dict[str, FloatArray]]:
    """Evidence of one data set.

    Parameters
    ----------
    measures : measures of the methods with their chosen settings
    sweep : measures for every setting, all folds
    bound : stability bound and observation, all folds
    same_class : per test query, the share of its nearest training queries of its class less chance; None where
        classes are not the data's
    lam : lambda of the curves
    """
    present = set(measures.column("method").to_pylist())
    found: dict[str, dict[str, FloatArray]] = {}
    for name, pair in DIFFERENCES.items():
        if present >= set(pair):
            values = query_values(measures, pair, MEASURE)[1]
            found[name] = {"difference": values[:, 0] - values[:, 1]}
    single = curve(sweep, "single", MEASURE, lam=lam).values[:, -1]
    curves = {method: curve(sweep, method, MEASURE, lam=lam) for method in KNN}
    for method, own in curves.items():
        if (at := _place(own, PAPERS_K)) is not None:
            found[f"{method} - single, as the paper"] = {"difference": own.values[:, at] - single}
        found |= _curve_evidence(sweep, method, own, single, lam)
    online = curves["knn-online"]
    found |= {"k = m": {"difference": online.values[:, -1] - single}} if online.to_the_end else {}
    found |= _gamma_evidence(sweep, lam)
    ratio = _ratio(bound)
    found |= {"bound": {"value": ratio}} if len(ratio) else {}
    return found | ({} if same_class is None else {"locality": {"difference": same_class}})


def _ratio(bound: pa.Table) -> FloatArray:
    limit, observed = (bound.column(name).to_numpy() for name in ("bound", "observed"))
    usable = np.isfinite(limit) & (limit > 0)
    ratio: FloatArray = observed[usable] / limit[usable]
    return ratio


def _place(of: Curve, share: float) -> int | None:
    """Place of the k that is this share of the training queries; None where the curve has none near it."""
    apart = np.abs(of.share - share)
    return int(apart.argmin()) if apart.min() <= 0.05 else None


def _curve_evidence(
    sweep: pa.Table, method: str, test: Curve, single: FloatArray, lam: float
) -> dict[str, dict[str, FloatArray]]:
    """The best k is found on validation where there are validation queries, and its gain measured on test.

    The end of the curve, k = m, is Single, whether or not the curve was taken that far.
    """
    seen = "vali" if "vali" in set(sweep.column("role").to_pylist()) else "test"
    means = curve(sweep, method, MEASURE, lam=lam, role=seen).values.mean(axis=0)
    best = int(np.argmax(means[-len(test.k) :]))
    top = test.values[:, best]
    rise, fall = top - test.values[:, 0], top - single
    inside = [i for i, share in enumerate(test.share) if FLAT[0] - 0.01 <= share <= FLAT[1]]
    flat = {f"k/m = {test.share[i]:.2f}": test.values[:, i] - top for i in inside}
    return {f"curve {method}": {"rise": rise, "fall": fall}} | ({f"flat {method}": flat} if flat else {})


def _gamma_evidence(sweep: pa.Table, lam: float) -> dict[str, dict[str, FloatArray]]:
    found: dict[str, dict[str, FloatArray]] = {}
    for method in OFFLINE:
        own = curve(sweep, method, "gamma", lam=lam)
        found[f"gammas {method}"] = {f"{k:.0f}": v for k, v in zip(own.k, own.values.T, strict=True)}
        if (at := _place(own, PAPERS_K)) is not None:
            found[f"gamma {method}"] = {"value": own.values[:, at]}
        if own.to_the_end:
            found[f"gamma to 0 {method}"] = {f"k/m = {s:.2f}": v for s, v in zip(own.share, own.values.T, strict=True)}
    ratios = [found[name]["value"] for name in (f"gamma {method}" for method in OFFLINE) if name in found]
    if len(ratios) == 2:
        both = np.isfinite(ratios[0]) & np.isfinite(ratios[1])
        found["gamma order"] = {"difference": ratios[1][both] - ratios[0][both]}
    return found


def locality_evidence(queries: Queries, nearest: NDArray[Any], classes: pa.Table) -> FloatArray | None:
    """`same_class_share` of the test queries; None where classes are made from the vectors themselves."""
    if "K-means" in classes.column("origin")[0].as_py():
        return None
    kinds = classes.column("class").to_numpy(zero_copy_only=False)
    rows = np.flatnonzero((queries.role == "test") & np.array([kind is not None for kind in kinds]))
    return same_class_share(nearest[rows], kinds[queries.is_train], kinds[rows])


def same_class_share(
    nearest: NDArray[Any], train_classes: NDArray[Any], classes: NDArray[Any], k: int = NEIGHBOURS
) -> FloatArray:
    """Share of the k nearest training queries that have the query's class, less the share by chance, (n_queries,)."""
    same = (train_classes[nearest[:, :k]] == classes[:, None]).mean(axis=1)
    names, counts = np.unique(train_classes.astype(str), return_counts=True)
    known: Mapping[str, float] = dict(zip(names.tolist(), (counts / len(train_classes)).tolist(), strict=True))
    return np.asarray(same - np.array([known.get(str(kind), 0.0) for kind in classes]))
