"""The claims of Geng 2008: what counts as success and as failure. docs/ledger.md says what had already been seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, OFFLINE, TREES

#: The smallest difference in mean NDCG that counts, and the smallest in a change ratio.
MARGIN, GAMMA_MARGIN = 0.005, 0.01
#: The paper's k, 400 of 1,500, and its flat range, 300 to 800, as shares of the training queries.
PAPERS_K, FLAT = 0.27, (0.2, 0.54)
PAPERS_NUMBER = 400
#: The paper calls the change ratio small but gives no figure; this one is ours.
SMALL = 0.5
#: Neighbours used to measure the locality of classes, and by how much their share must exceed chance.
NEIGHBOURS, _LOCAL = 10, 0.05

_ndcg = partial(Claim, margin=MARGIN, unit="NDCG", measure=MEASURE)
_beats = partial(_ndcg, kind="superiority", expected="difference above 0")
_not_better = partial(_ndcg, kind="no superiority", expected="difference not above 0")
_check = partial(Claim, purpose=CHECK)


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    budget = budget_text(options)
    claims = (*_methods(budget), *_curves(), *_gammas(), *_theory(), *_controls(budget))
    return Declaration("geng2008", "Geng 2008", claims)


def budgets(options: Mapping[str, Any]) -> dict[str, int]:
    """Number of settings that validation chooses from, by kind of method."""
    settings = {
        "local models": len(options["candidates"]) * len(options["lambdas"]),
        "models of many queries": len({*options["global_lambdas"], options["lam"]}),
    }
    if options["trees"] is not None:
        settings["LambdaMART"] = prod(len(values) for values in options["trees"].values())
    return settings


def budget_text(options: Mapping[str, Any]) -> str:
    """Budgets in words."""
    settings = budgets(options)
    trees = "; the number of LambdaMART's trees is chosen on validation too" if "LambdaMART" in settings else ""
    if len(set(settings.values())) == 1:
        return f"every method chooses among {settings['local models']} settings{trees}"
    return "settings to choose from: " + ", ".join(f"{n} for {kind}" for kind, n in settings.items()) + trees


def _differ(form: Any, a: str, b: str, text: str, **more: Any) -> Claim:
    """A claim about two methods, each with its chosen setting; ``text`` has their labels for ``{a}`` and ``{b}``."""
    claim: Claim = form(f"{a} - {b}", text.format(a=BY_NAME[a].label, b=BY_NAME[b].label), (a, b), **more)
    return claim


def _methods(budget: str) -> Iterator[Claim]:
    """KNN against Single and QC, the headline; with the paper's settings; and against each other."""
    for b, family in (("single", "KNN against Single and QC"), ("qc", "KNN against Single and QC")):
        for a in KNN:
            yield _differ(_beats, a, b, "{a} beats {b}", family=family, budget=budget)
    yield _differ(_not_better, "qc", "single", "{a} does not beat {b}", budget=budget)
    for a in KNN:
        text = f"{BY_NAME[a].label} beats Single, both with the paper's lambda and k/m = {PAPERS_K}"
        yield _beats(f"{a} - single, as the paper", text, family="as the paper", budget="nothing is chosen")
    alike = {"expected": "difference within the margin", "kind": "equivalence", "family": "alike", "budget": budget}
    for a, b in (*((a, "knn-online") for a in OFFLINE), ("knn-offline1", "knn-offline2")):
        yield _differ(_ndcg, a, b, "{a} and {b} do not differ", **alike)


def _curves() -> Iterator[Claim]:
    for method in KNN:
        label, expected = BY_NAME[method].label, "best k above the smallest, and above k = m"
        budget = "the best k of each fold is found on its validation queries"
        curve = partial(_ndcg, kind="rise and fall", expected=expected, budget=budget)
        yield curve(f"curve {method}", f"{label} first rises, then falls with k")
        text = f"{label} has a flat optimum, k/m from 0.2 to 0.53"
        yield _ndcg(f"flat {method}", text, expected="nowhere below the best k", kind="flat", budget=budget)


def _gammas() -> Iterator[Claim]:
    ratio = partial(Claim, margin=GAMMA_MARGIN, unit="change ratio", measure=f"change ratio at k/m = {PAPERS_K}")
    small = partial(ratio, kind="below", limit=SMALL, expected=f"below {SMALL}")
    for method in OFFLINE:
        text = f"the change ratio of {BY_NAME[method].label} is small"
        yield small(f"gamma {method}", text, note=f"the paper says small; the threshold {SMALL} is ours")
    text = "the change ratio of Offline-1 is below that of Offline-2"
    yield ratio("gamma order", text, expected="difference above 0", kind="superiority")
    yield Claim(
        "locality",
        "queries have the locality property",
        expected=f"share of the {NEIGHBOURS} nearest queries with the query's class, above chance",
        kind="superiority",
        margin=_LOCAL,
        unit="share of neighbours",
        measure=f"share of the {NEIGHBOURS} nearest of the same class minus chance",
    )


def _theory() -> Iterator[Claim]:
    """Claims that hold by construction or by a theorem; they check the implementation."""
    yield _check("k = m", "k = m equals Single", expected="no difference at all", kind="identical")
    for method in OFFLINE:
        text = f"the change ratio of {BY_NAME[method].label} is 0 at k = m"
        yield _check(f"gamma to 0 {method}", text, expected="0", kind="identical")
    text, measure = "the loss differs by no more than the bound of theorem 1", "difference of hinge loss over the bound"
    most = "observed / bound at most 1, models trained with the hinge loss"
    yield _check("bound", text, expected=most, kind="bounded", limit=1.0, measure=measure)


def _controls(budget: str) -> Iterator[Claim]:
    control = partial(_beats, purpose=CONTROL, budget=budget)
    # The QC that sees what KNN sees, so that the comparison is of methods and not of their information.
    for a in KNN:
        yield _differ(control, a, "qc-documents", "{a} beats {b}", family="KNN against QC from documents")
    yield _differ(_not_better, "qc-documents", "single", "{a} does not beat {b}", purpose=CONTROL, budget=budget)
    for a, b, text in (
        ("knn-online", "knn-random", "nearness matters: {a} beats random queries for neighbours"),
        (
            "knn-equal",
            "single-equal",
            "KNN beats Single when all queries weigh the same: the gain does not come from pair weights",
        ),
        ("single-equal", "single", "Single with equal query weights beats Single"),
    ):
        yield _differ(control, a, b, text)
    for b in ("knn-online", "single"):
        for tree in TREES:
            yield _differ(control, tree, b, "{a} beats {b}", family="LambdaMART")
