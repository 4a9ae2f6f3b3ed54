"""From the evidence of a study to its table of verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.errors import InputError
from qdrank.evaluation.declared import CLAIM_KINDS, Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate, over_seeds
from qdrank.evaluation.evidence import Evidence
from qdrank.evaluation.refits import over_refits, over_these_seeds
from qdrank.evaluation.verdicts import Verdict, family_sizes, judge_estimates, judge_exactly
from qdrank.layout import FloatArray
from qdrank.store.schemas import SHAPES

QUERIES, SEEDS, THESE_WORLDS, VALUES = "queries", "seeds", "queries, in these worlds only", "values"
"""Units of analysis."""

Members = Mapping[str, Evidence]
"""Evidence by member: one public data set, or the seeds of one simulated world."""


def judge(declaration: Declaration, members: Members, *, dataset: str, world: str = "") -> pa.Table:
    """The artifact ``verdicts``: one row per claim that has evidence.

    Parameters
    ----------
    declaration : the claims, and the rules for all of them
    members : evidence of one data set, or of the seeds of a simulated world, by name
    dataset : what tables call the data set
    world : what is built into a simulated world; empty for real data
    """
    if not members or (len(members) > 1 and not world):
        raise InputError(
            f"{dataset}: evidence of several seeds needs the text that says what is built into their simulated world"
        )
    evidence = {claim.name: _parts(claim, members) for claim in declaration}
    sizes = family_sizes(declaration.claims, {name: len(parts) for name, parts in evidence.items() if parts})
    rows = []
    for claim in declaration:
        if parts := evidence[claim.name]:
            analysis = _analysis(claim, len(next(iter(parts.values()))), world, declaration.rules)
            one = _verdict(claim, parts, analysis, sizes.get(claim.name, 1), declaration.rules)
            rows.append(
                row(declaration, claim, one, dataset=dataset, world=world, analysis=analysis, note=_by_seed(parts))
            )
    return verdicts_table(rows)


def _parts(claim: Claim, members: Members) -> dict[str, list[FloatArray]]:
    """Values of every part, (n_queries, n_fits) for each member that has evidence for the claim."""
    known = {name: by_part[claim.name] for name, by_part in members.items() if by_part.get(claim.name)}
    parts: dict[str, list[FloatArray]] = {}
    for name, by_part in known.items():
        if parts and set(parts) != set(by_part):
            raise InputError(
                f"claim {claim.name}: the evidence of {name} has other parts than that of the other seeds",
                found=", ".join(by_part),
            )
        for part, values in by_part.items():
            parts.setdefault(part, []).append(values.by_fit)
    return parts


def _analysis(claim: Claim, n_members: int, world: str, rules: Rules) -> str:
    if CLAIM_KINDS[claim.kind].exact:
        return VALUES
    if not world:
        return QUERIES
    return SEEDS if n_members >= rules.seeds else THESE_WORLDS


def _verdict(
    claim: Claim, parts: Mapping[str, Sequence[FloatArray]], analysis: str, size: int, rules: Rules
) -> Verdict:
    if analysis == VALUES:
        return judge_exactly(
            claim, {part: np.concatenate([values.ravel() for values in seeds]) for part, seeds in parts.items()}
        )
    estimates = {part: _estimate(seeds, analysis) for part, seeds in parts.items()}
    one = judge_estimates(claim, estimates, size=size, rules=rules)
    if analysis == THESE_WORLDS:
        seeds = len(next(iter(parts.values())))
        reason = f"{one.reason}; {seeds} {'seed' if seeds == 1 else 'seeds'}, {rules.seeds} needed for a statement beyond these worlds"
        return Verdict(**{**vars(one), "reason": reason})
    return one


def _estimate(seeds: Sequence[FloatArray], analysis: str) -> Estimate:
    """From values (n_queries, n_fits) of every seed; with seeds as units, their spread contains that of the fits."""
    if analysis == SEEDS:
        return over_seeds([values.mean(axis=1) for values in seeds])
    return over_refits(seeds[0]) if len(seeds) == 1 else over_these_seeds(seeds)


def estimate_of(members: Members, claim: str, part: str, rules: Rules) -> tuple[Estimate, str]:
    """Estimate of one part of the evidence, and the unit of analysis: for claims that compare data sets."""
    seeds = [evidence[claim][part].by_fit for evidence in members.values()]
    analysis = QUERIES if len(seeds) == 1 else SEEDS if len(seeds) >= rules.seeds else THESE_WORLDS
    return _estimate(seeds, analysis), analysis


def _by_seed(parts: Mapping[str, Sequence[FloatArray]]) -> str:
    """Effects of the single seeds, for a claim with one part."""
    seeds = next(iter(parts.values()))
    if len(parts) > 1 or len(seeds) == 1:
        return ""
    return "by seed: " + ", ".join(f"{over_refits(values).mean:+.4f}" for values in seeds)


def row(
    declaration: Declaration, claim: Claim, one: Verdict, *, dataset: str, world: str, analysis: str, note: str = ""
) -> dict[str, Any]:
    """One row of the artifact ``verdicts``."""
    return {
        "study": declaration.study,
        "paper": declaration.paper,
        "claim": claim.name,
        "text": claim.text,
        "dataset": dataset,
        "world": world,
        "group": claim.group,
        "kind": claim.kind,
        "measure": claim.measure,
        "expected": claim.expected,
        "holds_if": claim.criteria[0],
        "fails_if": claim.criteria[1],
        "margin": claim.margin,
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
    }


def verdicts_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as the artifact ``verdicts``; figures that do not apply to a claim are null."""
    schema = SHAPES["verdicts"].schema({})
    known = [{name: _or_null(one[name]) for name in schema.names} for one in rows]
    return pa.Table.from_pylist(known, schema)


def stamped(verdicts: pa.Table, **stamps: str) -> pa.Table:
    """The artifact ``verdicts`` with the ``commit`` and the ``configuration`` that made it in every row."""
    for name, text in stamps.items():
        place = verdicts.schema.get_field_index(name)
        verdicts = verdicts.set_column(
            place, verdicts.schema.field(place), pa.array([text] * len(verdicts), pa.string())
        )
    return verdicts


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
