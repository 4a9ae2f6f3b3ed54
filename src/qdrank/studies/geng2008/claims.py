"""The claims of Geng 2008: what counts as success and as failure. docs/ledger.md says what had already been seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, OFFLINE, QC, TREES

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


def difference(a: str, b: str) -> str:
    """Name of the claims that compare methods ``a`` and ``b``, each with its chosen setting."""
    return f"{a} - {b}"


#: Pairs of methods to compare, each with its chosen setting.
DIFFERENCES = {
    difference(a, b): (a, b)
    for a, b in (
        *((a, b) for b in ("single", *QC) for a in KNN),
        *((b, "single") for b in QC),
        *((a, "knn-online") for a in OFFLINE),
        ("knn-offline1", "knn-offline2"),
        ("knn-online", "knn-random"),
        ("knn-equal", "single-equal"),
        ("single-equal", "single"),
        *((tree, "knn-online") for tree in TREES),
        *((tree, "single") for tree in TREES),
    )
}


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    budget = budget_text(options)
    claims = (
        *_against(budget),
        *_as_the_paper(),
        *_alike(budget),
        *_curves(),
        *_gammas(),
        *_theory(),
        *_against_documents(budget),
        *_controls(budget),
    )
    return Declaration(study="geng2008", paper="Geng 2008", claims=claims)


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
    return "; ".join(f"{kind} choose among {n} settings" for kind, n in settings.items()) + trees


def _label(method: str) -> str:
    return BY_NAME[method].label


def _against(budget: str) -> Iterator[Claim]:
    """The headline: KNN against Single and against QC, corrected together."""
    for b in ("single", "qc"):
        for a in KNN:
            text = f"{_label(a)} beats {_label(b)}"
            yield _beats(name=difference(a, b), text=text, family="KNN against Single and QC", budget=budget)
    yield _not_better("qc", budget)


def _against_documents(budget: str) -> Iterator[Claim]:
    """KNN against the QC that sees what KNN sees, so that the comparison is of methods and not of their information."""
    for a in KNN:
        text, family = f"{_label(a)} beats {_label('qc-documents')}", "KNN against QC from documents"
        yield _beats(name=difference(a, "qc-documents"), text=text, family=family, purpose=CONTROL, budget=budget)
    yield replace(_not_better("qc-documents", budget), purpose=CONTROL)


def _not_better(qc: str, budget: str) -> Claim:
    text, expected = f"{_label(qc)} does not beat Single", "difference not above 0"
    return _ndcg(name=difference(qc, "single"), text=text, expected=expected, kind="no superiority", budget=budget)


def _as_the_paper() -> Iterator[Claim]:
    for a in KNN:
        text = f"{_label(a)} beats Single, both with the paper's lambda and k/m = {PAPERS_K}"
        yield _beats(name=f"{a} - single, as the paper", text=text, family="as the paper", budget="nothing is chosen")


def _alike(budget: str) -> Iterator[Claim]:
    for a, b in (*((a, "knn-online") for a in OFFLINE), ("knn-offline1", "knn-offline2")):
        text, expected = f"{_label(a)} and {_label(b)} do not differ", "difference within the margin"
        yield _ndcg(
            name=difference(a, b), text=text, expected=expected, kind="equivalence", family="alike", budget=budget
        )


def _curves() -> Iterator[Claim]:
    for method in KNN:
        text, expected = (
            f"{_label(method)} first rises, then falls with k",
            "best k above the smallest, and above k = m",
        )
        budget = "the best k of each fold is found on its validation queries"
        yield _ndcg(name=f"curve {method}", text=text, expected=expected, kind="rise and fall", budget=budget)
        text, expected = f"{_label(method)} has a flat optimum, k/m from 0.2 to 0.53", "nowhere below the best k"
        yield _ndcg(name=f"flat {method}", text=text, expected=expected, kind="flat", budget=budget)


def _gammas() -> Iterator[Claim]:
    ratio = partial(Claim, unit="change ratio", measure=f"change ratio at k/m = {PAPERS_K}")
    for method in OFFLINE:
        yield ratio(
            name=f"gamma {method}",
            text=f"the change ratio of {_label(method)} is small",
            expected=f"below {SMALL}",
            kind="below",
            limit=SMALL,
            margin=GAMMA_MARGIN,
            note=f"the paper says small; the threshold {SMALL} is ours",
        )
    yield ratio(
        name="gamma order",
        text="the change ratio of Offline-1 is below that of Offline-2",
        expected="difference above 0",
        kind="superiority",
        margin=GAMMA_MARGIN,
    )
    yield Claim(
        name="locality",
        text="queries have the locality property",
        expected=f"share of the {NEIGHBOURS} nearest queries with the query's class, above chance",
        kind="superiority",
        margin=_LOCAL,
        unit="share of neighbours",
        measure=f"share of the {NEIGHBOURS} nearest of the same class minus chance",
    )


def _theory() -> Iterator[Claim]:
    """Claims that hold by construction or by a theorem; they check the implementation."""
    yield Claim(
        name="k = m", text="k = m equals Single", expected="no difference at all", kind="identical", purpose=CHECK
    )
    for method in OFFLINE:
        text = f"the change ratio of {_label(method)} is 0 at k = m"
        yield Claim(name=f"gamma to 0 {method}", text=text, expected="0", kind="identical", purpose=CHECK)
    yield Claim(
        name="bound",
        text="the loss differs by no more than the bound of theorem 1",
        expected="observed / bound at most 1, models trained with the hinge loss",
        kind="bounded",
        limit=1.0,
        purpose=CHECK,
        measure="difference of hinge loss over the bound",
    )


def _controls(budget: str) -> Iterator[Claim]:
    texts = {
        "knn-online - knn-random": "nearness matters: KNN Online beats random queries for neighbours",
        "knn-equal - single-equal": "KNN beats Single when all queries weigh the same: the gain does not come from pair weights",
        "single-equal - single": "Single with equal query weights beats Single",
        **{
            difference(tree, b): f"{_label(tree)} beats {_label(b)}" for b in ("knn-online", "single") for tree in TREES
        },
    }
    for name, text in texts.items():
        family = "LambdaMART" if name.startswith("lambdamart") else ""
        yield _beats(name=name, text=text, family=family, purpose=CONTROL, budget=budget)
