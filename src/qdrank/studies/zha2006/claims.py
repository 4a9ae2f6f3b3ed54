"""The claims of Zha 2006 and ours, declared before the numbers.

Differences of DCG@5 are shares of the plain regressor's mean DCG@5: 0.01 is the paper's 1 %. The confirmatory
comparison is that of boosted trees, the paper's regressor, with settings chosen on validation on both sides. Ridge
regression is the second comparison of the same family.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.zha2006.methods import PAIRWISE, REGRESSORS, method_name

#: Smallest gain that counts: half of the smallest that the paper reports.
MARGIN = 0.005
#: The paper's smaller gain, and how far L1 may lie from L2 to be comparable.
PAPERS_GAIN, COMPARABLE = 0.01, 0.01
#: How far the scales of affine copies may be from the true ones, as a ratio.
RECOVERED = 0.1

#: What a value of the observations is; claims about two methods are measured by it.
SHARE = "DCG@5, difference divided by the plain regressor's mean"
_dcg = partial(Claim, unit="share of DCG@5", measure=SHARE)
_gain = partial(_dcg, kind="superiority", margin=MARGIN)
_control = partial(_gain, purpose=CONTROL, expected="difference above 0")

#: The first fit of a kind alone, and its refits to jittered targets alone, for the claim that compares the two.
FIRST, REFITS = "first", "refits"


def name(h: str, what: str) -> str:
    """Name of a claim about a regressor."""
    return f"{h}: {what}"


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    cells = len(options["lam_alpha"]) * len(options["lam_beta"])
    sizes = prod(len(options[name]) for name in ("leaves", "min_leaf", "learning_rates"))
    stopped = "; how many trees rank is chosen on validation on every side"
    budgets = {
        h: f"about {cells + n} settings on every side: {cells} penalties and {n} of h for aTVT, as many of h for plain "
        f"regression and of {PAIRWISE[h][1]}{stopped if h == 'trees' else ''}"
        for h, n in {"ridge": len(options["lam_h"]), "trees": sizes}.items()
    }
    parts = (_gains, _regularisation, _adjusted, _norms, _controls)
    of_both = [claim for part in parts for h, text in REGRESSORS.items() for claim in part(h, text, budgets[h])]
    last = [
        claim for part in (_pairwise, _checks) for h, text in REGRESSORS.items() for claim in part(h, text, budgets[h])
    ]
    return Declaration("zha2006", "Zha 2006", (*of_both, _refits(budgets["trees"]), *last))


def _apart(form: Any, h: str, a: str, b: str, text: str, **more: Any) -> Claim:
    """A claim about two kinds of methods with the same regressor."""
    claim: Claim = form(name(h, f"{a} - {b}"), text, (method_name(h, a), method_name(h, b)), **more)
    return claim


def _gains(h: str, words: str, budget: str) -> Iterator[Claim]:
    gain = partial(_gain, expected="gain of 1 to 2 %", family="aTVT against plain regression", budget=budget)
    note = "the confirmatory comparison" if h == "trees" else ""
    text = f"aTVT beats plain regression, both chosen on validation ({words})"
    yield _apart(gain, h, "atvt", "plain", text, note=note)
    text = f"aTVT gains at least 1 %, both chosen on validation ({words})"
    above = partial(_dcg, kind="above", limit=PAPERS_GAIN, expected="gain of 1 to 2 %", budget=budget)
    yield above(name(h, "1 %"), text, (method_name(h, "atvt"), method_name(h, "plain")))
    text = f"aTVT with the paper's penalties 10 and 1 beats plain regression ({words})"
    paper = partial(_gain, expected="gain of about 2 %", family="the paper's penalties", budget=_FIXED)
    yield _apart(paper, h, "fixed", "plain", text)


_FIXED = "the setting of h is chosen for plain regression, the penalties are fixed"


def _regularisation(h: str, words: str, _: str) -> Iterator[Claim]:
    worse = partial(_gain, family="regularisation", budget=_FIXED)
    text = "without penalties on the maps aTVT is worse than"
    above = "plain regression above aTVT"
    yield _apart(worse, h, "plain", "weak", f"{text} plain regression ({words})", expected=above)
    above = "the paper's penalties above none"
    yield _apart(worse, h, "fixed", "weak", f"{text} with the paper's ({words})", expected=above)


def _adjusted(h: str, words: str, _: str) -> Iterator[Claim]:
    more = "queries that are adjusted more gain more"
    given = {"family": "adjusted queries", "budget": "the paper's penalties"}
    adjusted = partial(_gain, expected="the more adjusted half above the other", **given)
    text = f"{more}: upper half by |alpha^0.1 - 1| + |beta/10| against lower ({words})"
    note = "alpha and beta of test queries need their grades: they say how a query would have been adjusted"
    yield adjusted(name(h, "adjusted"), text, note=note)
    text = f"{more}, among queries with documents of different grades ({words})"
    note = "a query whose documents are all of one grade has its own offset and can gain nothing"
    yield adjusted(name(h, "adjusted, varied"), text, purpose=CONTROL, note=note)


def _norms(h: str, words: str, budget: str) -> Iterator[Claim]:
    text = f"L1 is comparable to L2, both chosen on validation ({words})"
    expected = "+1.75 % with L1 beside +2 % with L2"
    alike = partial(_dcg, kind="equivalence", margin=COMPARABLE, family="L1 against L2", budget=budget)
    yield _apart(alike, h, "l1", "atvt", text, expected=expected)


def _controls(h: str, words: str, budget: str) -> Iterator[Claim]:
    control = partial(_control, family=f"what the gain is made of, {h}", budget=budget)
    offset = "a free offset for every query"
    yield _apart(control, h, "atvt", "centred", f"aTVT gains more than {offset} ({words})")
    yield _apart(control, h, "centred", "plain", f"{offset} beats plain regression ({words})")
    text = f"a scale for every query, without offset, beats plain regression ({words})"
    yield _apart(control, h, "scale", "plain", text, budget=f"{budget}; the scale alone chooses among fewer")


def _refits(budget: str) -> Claim:
    compares = (method_name("trees", f"atvt-{FIRST}"), method_name("trees", f"plain-{REFITS}"))
    text = "aTVT beats plain trees refitted to jittered targets, mean of the refits (boosted trees)"
    return _control("trees: atvt - refits", text, compares, budget=f"{budget}; the refits have the chosen setting")


def _pairwise(h: str, words: str, budget: str) -> Iterator[Claim]:
    text = f"{PAIRWISE[h][1]} leaves nothing to gain: aTVT does not beat it ({words})"
    family, none = "aTVT against learners of pairs and lists", "no superiority"
    not_better = partial(_gain, purpose=CONTROL, family=family, budget=budget)
    yield _apart(not_better, h, "atvt", "pairwise", text, expected="difference not above 0", kind=none)


def _checks(h: str, words: str, _: str) -> Iterator[Claim]:
    yield Claim(
        name(h, "limit"),
        f"infinite penalties give plain regression ({words})",
        expected="no difference of any score",
        kind="identical",
        purpose=CHECK,
        measure="largest difference of the scores of a query",
    )
    for which, penalties in (("recovered", "chosen on validation"), ("recovered, weak", "nearly none")):
        yield Claim(
            name(h, which),
            f"the scales of affine copies are found again, penalties {penalties} ({words})",
            expected="queries of scale 2 have twice the alpha of queries of scale 1",
            kind="equivalence",
            margin=RECOVERED,
            unit="ratio",
            purpose=CONTROL,
            measure="alpha over twice the mean alpha of scale 1, minus 1; training queries",
            note="only where the data say what the maps are, and the targets are the grades",
        )
