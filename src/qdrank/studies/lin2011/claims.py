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

#: What the observations call the aggregator that is best on the test queries.
BEST = "best aggregator"

_map = partial(Claim, margin=MARGIN, unit="MAP", measure=MEASURE)
_beats = partial(_map, kind="superiority", expected="difference above 0")
_far = partial(_map, kind="above", limit=FAR, expected=f"difference above {FAR}")


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    few = len(options["ms"]) * len(options["lambdas"])
    most = few * max(len(options["ts"]), len(options["ks"]))
    budget = f"Naive and SelectRanker choose among up to {most} settings, Transform among {few}, RankSVM among {most} lambdas"
    claims = (*_methods(budget), *_oracles(budget), *_by_class(budget), *_aggregation(budget), *_controls(budget))
    return Declaration("lin2011", "Lin 2011", claims)


def _methods(budget: str) -> Iterator[Claim]:
    """The headline: the methods against RankSVM, corrected together; the aggregating ones against Naive."""
    single: dict[str, Any] = {"family": "methods against RankSVM", "budget": budget}
    none = "the paper finds no significant difference"
    for method in AGGREGATING:
        compares = (method, RANKSVM)
        yield _beats(f"{method} - {RANKSVM}", f"{label(method)} beats RankSVM", compares, note=none, **single)
    alike = partial(_map, kind="equivalence", family="methods as good as RankSVM", budget=budget)
    for method in AGGREGATING:
        text = f"{label(method)} and RankSVM do not differ"
        yield alike(f"{method} = {RANKSVM}", text, (method, RANKSVM), expected="no significant difference")
    not_better = partial(_map, expected="difference not above 0", kind="no superiority", **single)
    yield not_better(f"{NAIVE} - {RANKSVM}", "Naive does not beat RankSVM", (NAIVE, RANKSVM))
    against_naive = partial(_beats, family="aggregation against Naive", budget=budget)
    for method in AGGREGATING:
        yield against_naive(f"{method} - {NAIVE}", f"{label(method)} beats Naive", (method, NAIVE))
    for method in AGGREGATING:
        yield Claim(
            f"most {method}",
            f"{label(method)} is above RankSVM on most measures",
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
    text, compares = "RelevantOnly beats RankSVM, most clusters", ("relevant-only", RANKSVM)
    yield _beats("relevant-only", text, compares, budget=budget)
    text = "UpperBound is far above RankSVM, most clusters"
    note = f"the paper says a lot of room; the threshold {FAR} is ours"
    yield _far("upper-bound", text, ("upper-bound", RANKSVM), note=note)
    better, worse = f"the {PLACE - AROUND}th best", f"the {PLACE + AROUND}th best"
    yield _map(
        "place",
        f"RankSVM is around the {PLACE}th best of 100 local models",
        expected=f"below {better} (rise), above {worse} (fall)",
        kind="rise and fall",
        note=f"rise: {better} minus RankSVM; fall: RankSVM minus {worse}; around: {AROUND} places",
    )


def _by_class(budget: str) -> Iterator[Claim]:
    for method in AGGREGATING:
        for name, sign in BY_CLASS.items():
            verb, order = (
                ("beats", "the method from RankSVM") if sign > 0 else ("is worse than", "RankSVM from the method")
            )
            text, above = f"{label(method)} {verb} RankSVM on {name} queries", f"difference of {order} above 0"
            yield _beats(f"{name} {method}", text, expected=above, family="by difficulty", budget=budget)


def _aggregation(budget: str) -> Iterator[Claim]:
    note = (
        f"the threshold {FAR} is ours; the best aggregator is the best on the test queries; the paper compares "
        "different inputs, here both sides see the same ranks"
    )
    far = partial(_far, family="against rank aggregation", budget=budget, note=note)
    for method in PAPER:
        for reading, suffix in RANKS.items():
            text = f"{label(method)} is far beyond the best of BordaCount and CPS, {reading}"
            yield far(f"{method} - aggregators{suffix}", text, (method, BEST + suffix))


def _controls(budget: str) -> Iterator[Claim]:
    control = partial(_beats, purpose=CONTROL)
    bound, perturbed, random = "upper-bound", "upper-bound-perturbed", "upper-bound-random"
    text = "UpperBound is above that of perturbed RankSVMs as good on average"
    yield control("upper-bound - perturbed", text, (bound, perturbed), family="upper bound")
    text = "UpperBound is above that of random clusters"
    note = "models of random clusters are better on average, so this one is not matched"
    yield control("upper-bound - random", text, (bound, random), family="upper bound", note=note)
    matter = partial(control, family="random clusters", budget=budget)
    for method in PAPER:
        text = f"clusters matter: {label(method)} beats itself with random clusters"
        yield matter(f"{method} - random", text, (method, f"{method}-random"))
    same = "the control has the same clusters and settings to choose from"
    of_query = partial(control, family="weights of the query", budget=budget, note=same)
    for method in PAPER:
        what = "the cluster" if method == NAIVE else "the weights"
        text = f"the query matters: {label(method)} beats itself with {what} of another query"
        yield of_query(f"{method} - other", text, (method, f"{method}-other"))
    for method in AGGREGATING:
        text = f"weights matter: {label(method)} beats itself with equal weights"
        yield of_query(f"{method} - uniform", text, (method, f"{method}-uniform"))
