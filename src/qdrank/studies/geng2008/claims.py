"""The claims of Geng 2008, and the evidence for them in the measures of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation import claims as c
from qdrank.evaluation.curves import Curve, curve, method_values
from qdrank.groups import FloatArray
from qdrank.queries.artifacts import Queries

PAPER = "Geng 2008"
CONTROL = "Geng 2008, controls"
MEASURE = "mean_ndcg/geng"
NAMES = {
    "knn-online": "KNN Online",
    "knn-offline1": "KNN Offline-1",
    "knn-offline2": "KNN Offline-2",
    "single": "Single",
    "qc": "QC",
    "knn-equal": "KNN with equal query weights",
    "single-equal": "Single with equal query weights",
    "knn-random": "random queries for neighbours",
    "lambdamart": "LambdaMART",
}
KNN = ("knn-online", "knn-offline1", "knn-offline2")
#: The paper's k, 400 of 1,500, and its flat range, 300 to 800, as shares of the training queries.
PAPERS_K, FLAT = 0.27, (0.2, 0.54)
PAPERS_NUMBER = 400
#: The paper calls the change ratio small without a figure.
SMALL = 0.5
NEIGHBOURS = 10


def _differences() -> dict[str, tuple[str, str]]:
    """Claims about the difference of two methods."""
    pairs = [(a, b) for b in ("single", "qc") for a in KNN]
    pairs += [("qc", "single"), ("knn-offline1", "knn-online"), ("knn-offline2", "knn-online")]
    pairs += [("knn-offline1", "knn-offline2"), ("knn-online", "knn-random"), ("knn-equal", "single-equal")]
    pairs += [("single-equal", "single"), ("lambdamart", "knn-online")]
    return {f"{a} - {b}": (a, b) for a, b in pairs}


DIFFERENCES = _differences()


def claims() -> dict[str, c.Claim]:
    """Every claim by the name of its evidence."""
    mean = "mean NDCG: "
    found = {}
    for a, b in ((a, b) for b in ("single", "qc") for a in KNN):
        text, expected = f"{NAMES[a]} beats {NAMES[b]}", f"{mean}difference above 0, p < 0.05"
        found[f"{a} - {b}"] = c.Claim(PAPER, text, expected, c.judge_beats, "KNN against Single and QC")
    for a in KNN:
        text = f"{NAMES[a]} beats Single, both with the paper's lambda and k/m = {PAPERS_K}"
        found[f"{a} - single, as the paper"] = c.Claim(PAPER, text, expected, c.judge_beats, "as the paper")
    found["qc - single"] = c.Claim(PAPER, "QC does not beat Single", f"{mean}difference not above 0", c.judge_beats_not)
    for name in ("knn-offline1 - knn-online", "knn-offline2 - knn-online", "knn-offline1 - knn-offline2"):
        a, b = DIFFERENCES[name]
        text = f"{NAMES[a]} and {NAMES[b]} do not differ"
        found[name] = c.Claim(PAPER, text, f"{mean}difference within the margin", c.judge_equal)
    return found | _curve_claims() | _gamma_claims() | _control_claims()


def _curve_claims() -> dict[str, c.Claim]:
    found = {}
    for method in KNN:
        text = f"{NAMES[method]} first rises, then falls with k"
        found[f"curve {method}"] = c.Claim(
            PAPER, text, "best k above the smallest and above k = m", c.judge_rise_and_fall
        )
        text = f"{NAMES[method]} has a flat optimum, k/m from 0.2 to 0.53"
        found[f"flat {method}"] = c.Claim(PAPER, text, "nowhere below the best k by the margin", c.judge_flat)
    found["k = m"] = c.Claim(PAPER, "k = m equals Single", "no difference at all", c.judge_identical)
    return found


def _gamma_claims() -> dict[str, c.Claim]:
    found = {}
    for method in KNN[1:]:
        name, below = NAMES[method], c.judge_below(SMALL)
        text = f"the change ratio of {name} is small"
        found[f"gamma {method}"] = c.Claim(PAPER, text, f"mean below {SMALL} at k/m = {PAPERS_K}", below)
        text = f"the change ratio of {name} goes to 0 as k goes to m"
        found[f"gamma to 0 {method}"] = c.Claim(
            PAPER, text, "falling over the larger half of the k, 0 at k = m", c.judge_to_zero
        )
    text = "the change ratio of Offline-1 is below that of Offline-2"
    found["gamma order"] = c.Claim(PAPER, text, f"difference above 0 at k/m = {PAPERS_K}", c.judge_beats)
    text = "the loss differs by no more than the bound of theorem 1"
    found["bound"] = c.Claim(PAPER, text, "hinge loss: observed / bound at most 1", c.judge_bounded)
    text = "queries have the locality property"
    expected = f"share of the {NEIGHBOURS} nearest of the query's class above chance"
    found["locality"] = c.Claim(PAPER, text, expected, c.judge_beats)
    return found


def _control_claims() -> dict[str, c.Claim]:
    beats = partial(c.Claim, CONTROL, expected="mean NDCG: difference above 0", judge=c.judge_beats)
    return {
        "knn-online - knn-random": beats("nearness matters: KNN Online beats random queries for neighbours"),
        "knn-equal - single-equal": beats("the gain is no repair of pair weights: KNN beats Single, both equal"),
        "single-equal - single": beats("Single with equal query weights beats Single"),
        "lambdamart - knn-online": beats("LambdaMART beats KNN Online"),
    }


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
            values = method_values(measures, pair, MEASURE)[1]
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
    for method in KNN[1:]:
        own = curve(sweep, method, "gamma", lam=lam)
        found[f"gammas {method}"] = {f"{k:.0f}": v for k, v in zip(own.k, own.values.T, strict=True)}
        if (at := _place(own, PAPERS_K)) is not None:
            found[f"gamma {method}"] = {"value": own.values[:, at]}
        if own.to_the_end:
            found[f"gamma to 0 {method}"] = {f"k/m = {s:.2f}": v for s, v in zip(own.share, own.values.T, strict=True)}
    ratios = [found[name]["value"] for name in (f"gamma {method}" for method in KNN[1:]) if name in found]
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


def judge_groups(
    groups: Mapping[str, Mapping[str, c.Evidence]], pairs: Sequence[Sequence[str]], rules: c.Rules
) -> pa.Table:
    """Verdicts for every group of data sets, the evidence of its members put together.

    Parameters
    ----------
    groups : evidence by group and member; a group of several members is several seeds of one simulated set
    pairs : a smaller and a larger set whose change ratios are compared
    rules : when a difference counts
    """
    pooled = {name: c.pooled_evidence([c.evidence_table(e) for e in own.values()]) for name, own in groups.items()}
    tables = []
    for name, found in pooled.items():
        n = len(groups[name])
        table = c.judge_all(claims(), found, rules, dataset=name if n == 1 else f"{name} ({n} seeds)")
        tables.append(_with_notes(table, groups[name]) if n > 1 else table)
    for small, large in pairs:
        if all({f"gamma {method}" for method in KNN[1:]} <= set(pooled.get(name, ())) for name in (small, large)):
            tables.append(larger_set(pooled[small], pooled[large], f"{small}, {large}"))
    return pa.concat_tables(tables)


def _with_notes(table: pa.Table, members: Mapping[str, c.Evidence]) -> pa.Table:
    """Effects of the single seeds as a note."""
    effects = [
        {row["claim"]: row["effect"] for row in c.judge_all(claims(), own, c.Rules(), dataset="").to_pylist()}
        for own in members.values()
    ]
    notes = [
        "by seed: " + ", ".join(f"{one[text]:+.4f}" for one in effects if one.get(text) is not None)
        for text in table.column("claim").to_pylist()
    ]
    return table.set_column(table.column_names.index("note"), "note", pa.array(notes, pa.string()))


def larger_set(small: c.Evidence, large: c.Evidence, dataset: str) -> pa.Table:
    """The claim that the change ratio is smaller on the larger set.

    The paper does not say at which k. Both readings are judged: at the same share of the training queries, and at the
    same number of neighbours, of those that both sets have the one nearest to the paper's.
    """
    rows = []
    for method in KNN[1:]:
        text = f"the change ratio of {NAMES[method]} is smaller on the larger set, at the same"
        values = [e[f"gamma {method}"]["value"] for e in (small, large)]
        rows.append(_smaller_ratio(f"{text} share k/m", f"k/m = {PAPERS_K}", *values))
        by_k = [e.get(f"gammas {method}", {}) for e in (small, large)]
        if common := set(by_k[0]) & set(by_k[1]):
            k = min(sorted(common, key=int), key=lambda name: abs(int(name) - PAPERS_NUMBER))
            rows.append(_smaller_ratio(f"{text} k", f"k = {k}", *(own[k] for own in by_k)))
    return c.claims_table([row | {"dataset": dataset} for row in rows])


def _smaller_ratio(text: str, at: str, small: FloatArray, large: FloatArray) -> dict[str, Any]:
    a, b = c.mean_of(_finite(small)), c.mean_of(_finite(large))
    half = float(np.hypot((a.high - a.low) / 2, (b.high - b.low) / 2))
    apart = a.mean - b.mean
    verdict = c.HOLDS if apart > half else c.FAILS if apart + half < 0.01 else c.UNCLEAR
    row = {"paper": PAPER, "claim": text, "expected": f"smaller set's mean higher, by 0.01 at least, at {at}"}
    measured = f"{a.mean:.3f} on the smaller, {b.mean:.3f} on the larger"
    numbers = {"effect": apart, "low": apart - half, "high": apart + half, "p_value": float("nan")}
    return row | {"measured": measured, **numbers, "verdict": verdict, "note": ""}


def _finite(values: FloatArray) -> FloatArray:
    return values[np.isfinite(values)]
