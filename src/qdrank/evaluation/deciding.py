"""From the observations of a study to its table of verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.errors import InputError
from qdrank.evaluation.declared import CLAIM_KINDS, Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate, over_refits, over_seeds, over_these_seeds
from qdrank.evaluation.values import Observations, Values
from qdrank.evaluation.verdicts import Verdict, decide_by_estimates, decide_exactly, family_sizes
from qdrank.store.schemas import SHAPES

QUERIES, SEEDS, THESE_WORLDS, VALUES = "queries", "seeds", "queries, in these worlds only", "values"
SOURCES = "sources of queries"
SETS, AVERAGE = "sets", "average"
"""Units of analysis; of averages over data sets, which stand where others have the name of a data set."""

Members = Mapping[str, Observations]
"""Observations by member: one public data set, or the seeds of one simulated world."""


def decide(declaration: Declaration, members: Members, *, dataset: str, world: str = "") -> pa.Table:
    """The artifact ``verdicts``: one row per claim that has observations.

    Parameters
    ----------
    declaration : the claims, and the rules for all of them
    members : observations of one data set, or of the seeds of a simulated world, by name
    dataset : what tables call the data set
    world : what is built into a simulated world; empty for real data
    """
    if not members or (len(members) > 1 and not world):
        raise InputError(
            f"{dataset}: observations of several seeds need the text that says what is built into their simulated world"
        )
    observations = {claim.name: _contrasts(claim, members) for claim in declaration}
    sizes = family_sizes(
        declaration.claims, {name: len(contrasts) for name, contrasts in observations.items() if contrasts}
    )
    rows = []
    for claim in declaration:
        if contrasts := observations[claim.name]:
            analysis = _analysis(claim, next(iter(contrasts.values())), world, declaration.rules)
            one, estimates = _verdict(claim, contrasts, analysis, sizes.get(claim.name, 1), declaration.rules)
            named = {"dataset": dataset, "world": world, "analysis": analysis, "note": _in_parts(contrasts, analysis)}
            rows.append(row(declaration, claim, one, estimates, **named))
    return verdicts_table(rows)


def _contrasts(claim: Claim, members: Members) -> dict[str, list[Values]]:
    """Values of every contrast, for each member that has observations for the claim."""
    known = {name: by_contrast[claim.name] for name, by_contrast in members.items() if by_contrast.get(claim.name)}
    contrasts: dict[str, list[Values]] = {}
    for name, by_contrast in known.items():
        if contrasts and set(contrasts) != set(by_contrast):
            raise InputError(
                f"claim {claim.name}: the observations of {name} have other contrasts than those of the other seeds",
                found=", ".join(by_contrast),
            )
        for contrast, values in by_contrast.items():
            contrasts.setdefault(contrast, []).append(values)
    return contrasts


def _analysis(claim: Claim, members: Sequence[Values], world: str, rules: Rules) -> str:
    if CLAIM_KINDS[claim.kind].exact:
        return VALUES
    if not world:
        return SOURCES if all(members[0].source) else QUERIES
    return SEEDS if len(members) >= rules.seeds else THESE_WORLDS


def _verdict(
    claim: Claim, contrasts: Mapping[str, Sequence[Values]], analysis: str, size: int, rules: Rules
) -> tuple[Verdict, dict[str, Estimate]]:
    """The verdict, and the estimate of every contrast."""
    if analysis == VALUES:
        values = {contrast: np.concatenate([of.value.ravel() for of in seeds]) for contrast, seeds in contrasts.items()}
        return decide_exactly(claim, values), {}
    estimates = {contrast: _estimate(seeds, analysis) for contrast, seeds in contrasts.items()}
    one = decide_by_estimates(claim, estimates, size=size, rules=rules)
    if analysis == THESE_WORLDS:
        seeds = len(next(iter(contrasts.values())))
        reason = f"{one.reason}; {seeds} {'seed' if seeds == 1 else 'seeds'}, {rules.seeds} needed for a statement beyond these worlds"
        one = replace(one, reason=reason)
    return one, estimates


def _estimate(seeds: Sequence[Values], analysis: str) -> Estimate:
    """From values of every seed; with seeds as units, their spread contains that of the fits."""
    if analysis == SEEDS:
        return over_seeds([values.value.mean(axis=1) for values in seeds])
    if len(seeds) > 1:
        return over_these_seeds([values.value for values in seeds])
    return over_refits(seeds[0].value, seeds[0].source if analysis == SOURCES else None)


def estimate_of(members: Members, claim: str, contrast: str, rules: Rules) -> tuple[Estimate, str]:
    """Estimate of one contrast of the observations, and the unit of analysis: for claims that compare data sets."""
    seeds = [observations[claim][contrast] for observations in members.values()]
    analysis = QUERIES if len(seeds) == 1 else SEEDS if len(seeds) >= rules.seeds else THESE_WORLDS
    return _estimate(seeds, analysis), analysis


def _in_parts(contrasts: Mapping[str, Sequence[Values]], analysis: str) -> str:
    """Queries of the sources; effects of the single seeds, for a claim with one contrast."""
    seeds = next(iter(contrasts.values()))
    if analysis == SOURCES:
        return f"by source: {len(seeds[0].source):,} queries of {len(set(seeds[0].source)):,} sources"
    if len(contrasts) > 1 or len(seeds) == 1:
        return ""
    return "by seed: " + ", ".join(f"{over_refits(values.value).mean:+.4f}" for values in seeds)


def row(
    declaration: Declaration,
    claim: Claim,
    one: Verdict,
    estimates: Mapping[str, Estimate],
    *,
    dataset: str,
    world: str,
    analysis: str,
    note: str = "",
) -> dict[str, Any]:
    """One row of the artifact ``verdicts``."""
    return {
        "study": declaration.study,
        "paper": declaration.paper,
        "claim": claim.name,
        "text": claim.text,
        "dataset": dataset,
        "world": world,
        "purpose": claim.purpose,
        "kind": claim.kind,
        "measure": claim.measure,
        "expected": claim.expected,
        "holds_if": claim.criteria[0],
        "fails_if": claim.criteria[1],
        "margin": claim.margin,
        "limit": claim.limit,
        "unit": claim.unit,
        "family": claim.family,
        "budget": claim.budget,
        "analysis": analysis,
        **{name: value for name, value in vars(one).items() if name not in ("verdict", "reason")},
        "verdict": one.verdict,
        "reason": one.reason,
        "note": "; ".join(filter(None, [claim.note, note])),
        "commit": "",
        "configuration": "",
        "queries_of": "",
        "estimates": [
            {"contrast": name, "mean": of.mean, "error": of.error, "n": of.n, "differing": of.sample.differing}
            for name, of in estimates.items()
            if of.sample is not None and of.error >= 0
        ],
    }


def verdicts_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as the artifact ``verdicts``; figures that do not apply to a claim are null."""
    schema = SHAPES["verdicts"].schema({})
    known = [{name: _or_null(one[name]) for name in schema.names} for one in rows]
    return pa.Table.from_pylist(known, schema)


def stamped(verdicts: pa.Table, **stamps: str) -> pa.Table:
    """The artifact ``verdicts`` with the same text in every row: ``commit`` and ``configuration`` that made it, ``queries_of``."""
    for name, text in stamps.items():
        place = verdicts.schema.get_field_index(name)
        verdicts = verdicts.set_column(
            place, verdicts.schema.field(place), pa.array([text] * len(verdicts), pa.string())
        )
    return verdicts


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
