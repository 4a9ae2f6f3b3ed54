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
from qdrank.studies.zha2006.methods import PAIRWISE, REGRESSORS

#: Smallest gain that counts: half of the smallest that the paper reports.
MARGIN = 0.005
#: The paper's smaller gain, and how far L1 may lie from L2 to be comparable.
PAPERS_GAIN, COMPARABLE = 0.01, 0.01
#: How far the scales of affine copies may be from the true ones, as a ratio.
RECOVERED = 0.1

_MEASURE = "DCG@5, difference divided by the plain regressor's mean"
_dcg = partial(Claim, unit="share of DCG@5", measure=_MEASURE)
_gain = partial(_dcg, kind="superiority", margin=MARGIN)


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
    claims = (
        *_gains(budgets),
        *_regularisation(),
        *_adjusted(),
        *_norms(budgets),
        *_controls(budgets),
        *_pairwise(budgets),
        *_checks(),
    )
    return Declaration(study="zha2006", paper="Zha 2006", claims=claims)


def _gains(budgets: Mapping[str, str]) -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        yield _gain(
            name=name(h, "atvt - plain"),
            text=f"aTVT beats plain regression, both chosen on validation ({text})",
            expected="gain of 1 to 2 %",
            family="aTVT against plain regression",
            budget=budgets[h],
            note="the confirmatory comparison" if h == "trees" else "",
        )
        yield _dcg(
            name=name(h, "1 %"),
            text=f"aTVT gains at least 1 %, both chosen on validation ({text})",
            expected="gain of 1 to 2 %",
            kind="above",
            limit=PAPERS_GAIN,
            budget=budgets[h],
        )
        yield _gain(
            name=name(h, "fixed - plain"),
            text=f"aTVT with the paper's penalties 10 and 1 beats plain regression ({text})",
            expected="gain of about 2 %",
            family="the paper's penalties",
            budget="the setting of h is chosen for plain regression, the penalties are fixed",
        )


def _regularisation() -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        budget = "the setting of h is chosen for plain regression, the penalties are fixed"
        yield _gain(
            name=name(h, "plain - weak"),
            text=f"without penalties on the maps aTVT is worse than plain regression ({text})",
            expected="plain regression above aTVT",
            family="regularisation",
            budget=budget,
        )
        yield _gain(
            name=name(h, "fixed - weak"),
            text=f"without penalties on the maps aTVT is worse than with the paper's ({text})",
            expected="the paper's penalties above none",
            family="regularisation",
            budget=budget,
        )


def _adjusted() -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        yield _gain(
            name=name(h, "adjusted"),
            text=f"queries that are adjusted more gain more: upper half by |alpha^0.1 - 1| + |beta/10| against lower ({text})",
            expected="the more adjusted half above the other",
            family="adjusted queries",
            budget="the paper's penalties",
            note="alpha and beta of test queries need their grades: they say how a query would have been adjusted",
        )
        yield _gain(
            name=name(h, "adjusted, varied"),
            text=f"queries that are adjusted more gain more, among queries with documents of different grades ({text})",
            expected="the more adjusted half above the other",
            family="adjusted queries",
            budget="the paper's penalties",
            purpose=CONTROL,
            note="a query whose documents are all of one grade has its own offset and can gain nothing",
        )


def _norms(budgets: Mapping[str, str]) -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        yield _dcg(
            name=name(h, "l1 - atvt"),
            text=f"L1 is comparable to L2, both chosen on validation ({text})",
            expected="+1.75 % with L1 beside +2 % with L2",
            kind="equivalence",
            margin=COMPARABLE,
            family="L1 against L2",
            budget=budgets[h],
        )


def _controls(budgets: Mapping[str, str]) -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        control = partial(
            _gain, purpose=CONTROL, expected="difference above 0", family=f"what the gain is made of, {h}"
        )
        yield control(
            name=name(h, "atvt - centred"),
            text=f"aTVT gains more than a free offset for every query ({text})",
            budget=budgets[h],
        )
        yield control(
            name=name(h, "centred - plain"),
            text=f"a free offset for every query beats plain regression ({text})",
            budget=budgets[h],
        )
        yield control(
            name=name(h, "scale - plain"),
            text=f"a scale for every query, without offset, beats plain regression ({text})",
            budget=f"{budgets[h]}; the scale alone chooses among fewer",
        )
    yield _gain(
        name=name("trees", "atvt - refits"),
        text="aTVT beats plain trees refitted to jittered targets, mean of the refits (boosted trees)",
        expected="difference above 0",
        purpose=CONTROL,
        budget=f"{budgets['trees']}; the refits have the chosen setting",
    )


def _pairwise(budgets: Mapping[str, str]) -> Iterator[Claim]:
    for h in REGRESSORS:
        learner = PAIRWISE[h][1]
        yield _dcg(
            name=name(h, "atvt - pairwise"),
            text=f"{learner} leaves nothing to gain: aTVT does not beat it ({REGRESSORS[h]})",
            expected="difference not above 0",
            kind="no superiority",
            margin=MARGIN,
            purpose=CONTROL,
            family="aTVT against learners of pairs and lists",
            budget=budgets[h],
        )


def _checks() -> Iterator[Claim]:
    for h, text in REGRESSORS.items():
        yield Claim(
            name=name(h, "limit"),
            text=f"infinite penalties give plain regression ({text})",
            expected="no difference of any score",
            kind="identical",
            purpose=CHECK,
            measure="largest difference of the scores of a query",
        )
        for which, penalties in (("recovered", "chosen on validation"), ("recovered, weak", "nearly none")):
            yield Claim(
                name=name(h, which),
                text=f"the scales of affine copies are found again, penalties {penalties} ({text})",
                expected="queries of scale 2 have twice the alpha of queries of scale 1",
                kind="equivalence",
                margin=RECOVERED,
                unit="ratio",
                purpose=CONTROL,
                measure="alpha over twice the mean alpha of scale 1, minus 1; training queries",
                note="only where the data say what the maps are, and the targets are the grades",
            )
