"""The claims of Hoi and Jin 2008: what counts as success and as failure, written before the numbers.

Every claim is made under both rules for ties. The confirmatory comparison is SSER against SER, gamma chosen on validation.
Table 3 decides the claims about time, because times differ from run to run and observations must not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.hoi2008.methods import BASELINES, TIES, with_ties

#: The smallest difference in MAP that counts, and the smallest in precision at a rank.
MARGIN, PRECISION_MARGIN = 0.005, 0.02
#: Relative duality gap that every program must reach.
LARGEST_GAP = 1e-8
#: Methods that SER beats according to the paper.
WEAK = ("rankboost", "adarank-map", "mhr-bc")
#: Settings that the other methods choose from unless the configuration says otherwise; a test counts them.
OTHERS = "the others by default: RankBoost 2, Ranking SVM 5, ListNet 18, AdaRank 1, MHR-BC 4 settings"
_WORDS = {"half": "tied pairs count 1/2", "file": "ties in file order"}
_BASELINES = [method.name for method in BASELINES]

_map = partial(Claim, margin=MARGIN, unit="MAP", measure="ap")
_beats = partial(_map, kind="superiority", expected="difference above 0")
_control = partial(_beats, purpose=CONTROL)
_check = partial(Claim, purpose=CHECK)


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    tried = prod(len(options[f"tried_{name}"]) for name in ("C", "theta", "delta"))
    claims = [*_paper(len(options["gammas"])), *_controls(len(options["gammas"]), tried)]
    of_ties = [_under(claim, ties) for ties in TIES for claim in claims]
    return Declaration("hoi2008", "Hoi and Jin 2008", (*of_ties, *_once()))


def _under(claim: Claim, ties: str) -> Claim:
    """A claim under a rule for ties."""
    words = _WORDS[ties]
    compares = tuple(name if name in _BASELINES else with_ties(name, ties) for name in claim.compares)
    family = claim.family.format(words=words)
    return replace(
        claim, name=with_ties(claim.name, ties), text=f"{claim.text}, {words}", compares=compares, family=family
    )


def _paper(gammas: int) -> Iterator[Claim]:
    budget = f"SSER chooses among {gammas} gammas, SER among nothing, {OTHERS}"
    beats, others = partial(_beats, budget=budget), ("sser", *_BASELINES, "ser")
    family, confirms = "SSER against SER", "the confirmatory comparison"
    yield beats("sser - ser", "SSER beats SER", ("sser", "ser"), family=family, note=confirms)
    above = f"above each of {', '.join(method.label for method in BASELINES)} and SER"
    note = "holds only if SSER beats every other method that was run"
    yield beats("best MAP", "SSER has the best MAP", others, expected=above, note=note)
    at_rank = partial(beats, expected="above every other method", margin=PRECISION_MARGIN, unit="precision")
    for k in (1, 2):
        text, family = f"SSER has the best precision at rank {k}", "ranks 1 and 2, {words}"
        yield at_rank(f"best at {k}", text, others, measure=f"p@{k}/letor4", family=family)
    family = "Ranking SVM above SER above the others, {words}"
    yield beats("ranksvm - ser", "Ranking SVM beats SER", ("ranksvm", "ser"), family=family)
    yield beats("ser - weak", "SER beats RankBoost, AdaRank and MHR-BC", ("ser", *WEAK), family=family)
    yield _map(
        "gamma",
        "the best gamma is near 0.5",
        expected="gamma = 0.5 above gamma = 0 and above the largest gamma",
        kind="rise and fall",
        budget="nothing is chosen",
        note="the paper shows one experiment, without figures; that 0.5 must beat both ends is our reading",
    )
    text, pair = "gamma = 0.5 is about as good as the gamma chosen on validation", ("sser-fixed", "sser")
    yield _map("fixed", text, pair, expected="not worse", kind="non-inferiority", budget=budget)


def _controls(gammas: int, tried: int) -> Iterator[Claim]:
    text, same = "rankers that are constant within every query do not matter to SER", "no difference without them"
    alike = partial(_map, kind="equivalence", purpose=CONTROL)
    yield alike("constant", text, ("ser", "ser-varying"), expected=same)
    yield _control("bounds", "w >= 0 helps SER", ("ser", "ser-free"))
    yield _control("eta", "eta of eq. 13 matters: SSER beats the printed formula", ("sser", "sser-printed"))
    text = "this query's documents matter: SSER beats SSER with those of another query"
    pair = ("sser-fixed", "sser-other-fixed")
    yield _control("structure", text, pair, budget="gamma is fixed on both sides")
    text = "this query's documents matter, gamma chosen on validation for both"
    both = f"both sides choose among {gammas} gammas"
    later = "declared after the first run: where SSER beat SER, gamma was above the fixed one"
    yield _control("structure, gamma chosen", text, ("sser", "sser-other"), budget=both, note=later)
    tuned = partial(_control, budget=f"SER chooses among {tried} settings, SSER then among {gammas} gammas, {OTHERS}")
    text = "SSER has the best MAP where C, theta and delta are chosen too"
    above = "above each of the others, and SER with the same settings"
    less = "the paper's SER and SSER choose less than the learners beside them"
    yield tuned("tuned best MAP", text, ("sser-tuned", *_BASELINES, "ser-tuned"), expected=above, note=less)
    text = "SER with chosen C, theta and delta beats RankBoost, AdaRank and MHR-BC"
    yield tuned("tuned - weak", text, ("ser-tuned", *WEAK))
    text = "C, theta and delta chosen on validation beat the paper's, SER"
    yield _control("tuned", text, ("ser-tuned", "ser"), budget=f"{tried} settings against one")


def _once() -> Iterator[Claim]:
    """What motivates the paper but is not tested there, the rule for ties itself, and checks."""
    few = partial(_control, budget="nothing is chosen; gamma = 0.5")
    yield few("few labels", "SSER beats SER with the fewest training queries of the learning curve")
    yield few("more with few", "SSER gains more on SER with the fewest training queries than with all")
    text, same = "the rule for ties does not matter to SER", "no difference between 1/2 and file order"
    alike = partial(_map, kind="equivalence", purpose=CONTROL, budget="nothing is chosen")
    yield alike("ties", text, ("ser-file", "ser"), expected=same)
    yield _check("gamma = 0", "SSER with gamma = 0 is SER", expected="no difference at all", kind="identical")
    gap = partial(_check, expected=f"relative duality gap at most {LARGEST_GAP:g}", measure="relative duality gap")
    yield gap("gap", "every program is solved", kind="bounded", limit=LARGEST_GAP)
    text, weights = "with tied pairs counted 1/2, constant rankers have no weight", "sum of their weights"
    yield _check("no weight", text, expected="0", kind="identical", measure=weights)
