"""The claim of Geng 2008 that compares two data sets: the change ratio is smaller on the larger one.

The paper does not say at which k. We decide both readings: at the same share of the training queries, and at the same
number of neighbours (of the numbers tried on both sets, the one nearest to the paper's).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from qdrank.evaluation.deciding import THESE_WORLDS, Members, estimate_of, row, verdicts_table
from qdrank.evaluation.declared import Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate
from qdrank.evaluation.verdicts import decide_by_estimates
from qdrank.studies.geng2008.claims import GAMMA_MARGIN, PAPERS_K, PAPERS_NUMBER
from qdrank.studies.geng2008.methods import BY_NAME, OFFLINE

#: A smaller and a larger set.
LARGER = (("sim1", "sim2"),)


def decide_across(declaration: Declaration, members_of: Mapping[str, Members], worlds: Mapping[str, str]) -> pa.Table:
    """Verdicts on the claim; ``members_of`` has the observations of all data sets, ``worlds`` what is built into them."""
    rows = []
    for small, large in LARGER:
        if small in members_of and large in members_of:
            claims = list(_claims(members_of[small], members_of[large], declaration.rules))
            for claim, apart, analysis in claims:
                one = decide_by_estimates(claim, {"difference": apart}, size=len(claims), rules=declaration.rules)
                about = {"dataset": f"{small}, {large}", "world": worlds[large], "analysis": analysis}
                rows.append(row(declaration, claim, one, **about))
    return verdicts_table(rows)


def _claims(small: Members, large: Members, rules: Rules) -> Iterator[tuple[Claim, Estimate, str]]:
    for method in OFFLINE:
        text = f"the change ratio of {BY_NAME[method].label} is smaller on the larger set, at the same"
        for name, contrast, at in _places(method, small, large):
            (a, first), (b, second) = (estimate_of(members, name, contrast, rules) for members in (small, large))
            claim = Claim(
                name=f"larger {method}, {at}",
                text=f"{text} {'share k/m' if at.startswith('k/m') else 'k'}",
                expected=f"mean of the smaller set higher, at {at}",
                kind="superiority",
                margin=GAMMA_MARGIN,
                unit="change ratio",
                family="smaller on the larger set",
                measure=f"change ratio at {at}",
                note=f"{a.mean:.3f} on the smaller, {b.mean:.3f} on the larger",
            )
            yield claim, a.minus(b), first if first == second else THESE_WORLDS


def _places(method: str, small: Members, large: Members) -> Iterator[tuple[str, str, str]]:
    """Claim, contrast and wording of the observations under both readings."""
    if _contrasts(small, f"gamma {method}") and _contrasts(large, f"gamma {method}"):
        yield f"gamma {method}", "value", f"k/m = {PAPERS_K}"
    common = _contrasts(small, f"gammas {method}") & _contrasts(large, f"gammas {method}")
    if common:
        k = min(sorted(common, key=int), key=lambda name: abs(int(name) - PAPERS_NUMBER))
        yield f"gammas {method}", k, f"k = {k}"


def _contrasts(members: Members, claim: str) -> set[str]:
    """Contrasts of a claim that all members share."""
    return set.intersection(*(set(observations.get(claim, {})) for observations in members.values()))
