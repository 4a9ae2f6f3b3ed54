"""The claims of Geng 2008: what would count as their success and their failure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation import claims as c
from qdrank.groups import FloatArray
from qdrank.studies.geng2008.methods import BY_NAME, KNN, OFFLINE

PAPER = "Geng 2008"
CONTROL = "Geng 2008, controls"
MEASURE = "mean_ndcg/geng"
NAMES = {name: method.label for name, method in BY_NAME.items()}
#: The paper's k, 400 of 1,500, and its flat range, 300 to 800, as shares of the training queries.
PAPERS_K, FLAT = 0.27, (0.2, 0.54)
PAPERS_NUMBER = 400
#: The paper calls the change ratio small without a figure.
SMALL = 0.5
NEIGHBOURS = 10
#: A smaller and a larger set whose change ratios are compared.
LARGER = (("sim1", "sim2"),)


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
    for method in OFFLINE:
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


def across(groups: Mapping[str, c.Evidence]) -> list[pa.Table]:
    """Claims about two data sets; ``groups`` is the evidence of all, by name."""
    wanted = {f"gamma {method}" for method in OFFLINE}
    return [
        larger_set(groups[small], groups[large], f"{small}, {large}")
        for small, large in LARGER
        if all(wanted <= set(groups.get(name, ())) for name in (small, large))
    ]


def larger_set(small: c.Evidence, large: c.Evidence, dataset: str) -> pa.Table:
    """The claim that the change ratio is smaller on the larger set.

    The paper does not say at which k. Both readings are judged: at the same share of the training queries, and at the
    same number of neighbours, of those that both sets have the one nearest to the paper's.
    """
    rows = []
    for method in OFFLINE:
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
