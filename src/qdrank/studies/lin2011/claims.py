"""The claims of Lin 2011: what counts as success and as failure, written before the numbers.

Values are means over the seeds of the clusters, so that verdicts are about the methods and not about one run of K-means.
Much of the paper is lost: if the paper gives no figure for a claim, the claim's note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from qdrank.evaluation.declared import CONTROL, Claim, Declaration
from qdrank.studies.lin2011.methods import AGGREGATING, NAIVE, PAPER, RANKSVM, label

MEASURE = "ap"
#: The smallest difference in MAP that counts; what "far" means; the smallest share of measures that counts.
MARGIN, FAR, SHARE = 0.005, 0.05, 0.02
#: Where the paper finds RankSVM among 100 local models, and how far from there still counts as "around".
PLACE, AROUND = 19, 10
#: What the paper says about the aggregating methods on queries of each class of difficulty.
BY_CLASS = {"hard": +1, "normal": +1, "easy": -1}
#: Readings of the ranks in the aggregation data, and the name suffixes of the methods that use each reading.
RANKS = {"ranks as ranks": "", "ranks upside down": "-high"}
#: Measures of Table 2, to which "most measures" refers.
TABLE2 = ("ap", "mean_ndcg/letor4", *(f"{m}@{k}/letor4" for m in ("p", "ndcg") for k in range(1, 11)))

_map = partial(Claim, margin=MARGIN, unit="MAP", measure=MEASURE)
_beats = partial(_map, kind="superiority", expected="difference above 0")


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    most = len(options["ms"]) * len(options["lambdas"]) * max(len(options["ts"]), len(options["ks"]))
    few = len(options["ms"]) * len(options["lambdas"])
    budget = f"Naive and SelectRanker choose among up to {most} settings, Transform among {few}, RankSVM among {most} lambdas"
    claims = (*_methods(budget), *_oracles(budget), *_by_class(budget), *_aggregation(budget), *_controls(budget))
    return Declaration(study="lin2011", paper="Lin 2011", claims=claims)


def _methods(budget: str) -> Iterator[Claim]:
    """The headline: the methods against RankSVM, corrected together; the aggregating ones against Naive."""
    for method in AGGREGATING:
        yield _beats(
            name=f"{method} - {RANKSVM}",
            text=f"{label(method)} beats RankSVM",
            family="methods against RankSVM",
            budget=budget,
            note="the paper finds no significant difference",
        )
    yield _map(
        name=f"{NAIVE} - {RANKSVM}",
        text="Naive does not beat RankSVM",
        expected="difference not above 0",
        kind="no superiority",
        family="methods against RankSVM",
        budget=budget,
    )
    for method in AGGREGATING:
        text = f"{label(method)} beats Naive"
        yield _beats(name=f"{method} - {NAIVE}", text=text, family="aggregation against Naive", budget=budget)
    for method in AGGREGATING:
        yield Claim(
            name=f"most {method}",
            text=f"{label(method)} is above RankSVM on most measures",
            expected="per query, above on more measures than below",
            kind="superiority",
            margin=SHARE,
            unit="share of measures",
            measure="share of the measures of Table 2 above RankSVM minus the share below",
            family="most measures",
            budget=budget,
        )


def _oracles(budget: str) -> Iterator[Claim]:
    """Figures 2 and 3: what a perfect choice of the local model would give."""
    yield _beats(name="relevant-only", text="RelevantOnly beats RankSVM, most clusters", budget=budget)
    yield _map(
        name="upper-bound",
        text="UpperBound is far above RankSVM, most clusters",
        expected=f"difference above {FAR}",
        kind="above",
        limit=FAR,
        note=f"the paper says a lot of room; the threshold {FAR} is ours",
    )
    yield _map(
        name="place",
        text=f"RankSVM is around the {PLACE}th best of 100 local models",
        expected=f"below the {PLACE - AROUND}th best (rise), above the {PLACE + AROUND}th best (fall)",
        kind="rise and fall",
        note=f"rise: the {PLACE - AROUND}th best minus RankSVM; fall: RankSVM minus the {PLACE + AROUND}th best; around: {AROUND} places",
    )


def _by_class(budget: str) -> Iterator[Claim]:
    for method in AGGREGATING:
        for name, sign in BY_CLASS.items():
            better = sign > 0
            yield _beats(
                name=f"{name} {method}",
                text=f"{label(method)} {'beats' if better else 'is worse than'} RankSVM on {name} queries",
                expected=f"difference of {'the method from RankSVM' if better else 'RankSVM from the method'} above 0",
                family="by difficulty",
                budget=budget,
            )


def _aggregation(budget: str) -> Iterator[Claim]:
    for method in PAPER:
        for reading, suffix in RANKS.items():
            yield _map(
                name=f"{method} - aggregators{suffix}",
                text=f"{label(method)} is far beyond the best of BordaCount and CPS, {reading}",
                expected=f"difference above {FAR}",
                kind="above",
                limit=FAR,
                family="against rank aggregation",
                budget=budget,
                note=f"the threshold {FAR} is ours; the best aggregator is the best on the test queries; the paper compares "
                "different inputs, here both sides see the same ranks",
            )


def _controls(budget: str) -> Iterator[Claim]:
    yield _beats(
        name="upper-bound - perturbed",
        text="UpperBound is above that of perturbed RankSVMs as good on average",
        family="upper bound",
        purpose=CONTROL,
    )
    yield _beats(
        name="upper-bound - random",
        text="UpperBound is above that of random clusters",
        family="upper bound",
        purpose=CONTROL,
        note="models of random clusters are better on average, so this one is not matched",
    )
    for method in PAPER:
        text = f"clusters matter: {label(method)} beats itself with random clusters"
        yield _beats(name=f"{method} - random", text=text, family="random clusters", purpose=CONTROL, budget=budget)
    same = "the control has the same clusters and settings to choose from"
    of_query = partial(_beats, family="weights of the query", purpose=CONTROL, budget=budget, note=same)
    for method in PAPER:
        what = "the cluster" if method == NAIVE else "the weights"
        text = f"the query matters: {label(method)} beats itself with {what} of another query"
        yield of_query(name=f"{method} - other", text=text)
    for method in AGGREGATING:
        text = f"weights matter: {label(method)} beats itself with equal weights"
        yield of_query(name=f"{method} - uniform", text=text)
