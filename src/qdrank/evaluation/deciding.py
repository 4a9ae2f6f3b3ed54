"""From the observations of a study to its table of verdicts, on each data set and on their average.

Averages of a claim's effects over independent sets of queries: what holds beyond the sets at hand.

Effects of sets are a sample: that of set i is mean + set(i) + error(i), with the variance tau^2 between sets and the set's own
standard error s_i, which holds its queries and its fits. With the weights w_i = 1 / (s_i^2 + tau^2),

    mean = sum w_i y_i / sum w_i,    error^2 = q / sum w_i,    q = sum w_i (y_i - mean)^2 / (k - 1),

and Student's interval with k - 1 degrees of freedom is that of Hartung, Knapp, Sidik and Jonkman. tau^2 is Paule and
Mandel's: the one at which q is 1, or 0 where q is below 1 already. There the interval would become the narrower the more alike
the effects happen to be, so q is 1 at least (Röver, Knapp and Friede 2015): q is then 1 everywhere, and needs no code.

Where one set has most of the weight, the others say little about tau^2, and the interval is too short. So the error is at
least the jackknife's: the root of the sum of squares by which the mean moves when each set is left out, at the same weights. What
that changes is in docs/verdicts.md, by ``bench/pooling.py``.

Sets that share queries count once: of those with the same ``queries_of`` the first in the configuration. With fewer than
`Rules.sets` there is no average: Student's quantile for three sets is 4.3, and says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, isnan, nan, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import stdtrit

from qdrank.errors import InputError
from qdrank.evaluation.declared import CLAIM_KINDS, Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate, over_refits, over_seeds, over_these_seeds
from qdrank.evaluation.values import Observations, Values
from qdrank.evaluation.verdicts import Verdict, decide_by_estimates, decide_exactly, family_sizes
from qdrank.layout import FloatArray
from qdrank.store.schemas import SHAPES

QUERIES, SEEDS, THESE_WORLDS, VALUES = "queries", "seeds", "queries, in these worlds only", "values"
SOURCES = "sources of queries"
#: Units of one set of public data.
UNITS = (QUERIES, SOURCES)
SETS, AVERAGE = "sets", "average"
"""Units of analysis; of averages over data sets, which stand where others have the name of a data set."""

_BY_SOURCE = "by source: "
_DECLARED = ("text", "expected", "kind", "margin", "limit", "unit", "family", "purpose", "measure", "budget")
"""What a row has of its claim, under the same names."""

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
        return f"{_BY_SOURCE}{len(seeds[0].source):,} queries of {len(set(seeds[0].source)):,} sources"
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
        **{name: getattr(claim, name) for name in _DECLARED},
        "dataset": dataset,
        "world": world,
        "holds_if": claim.criteria[0],
        "fails_if": claim.criteria[1],
        "analysis": analysis,
        **vars(one),
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


# ---- averages over sets --------------------------------------------------------------------------------------------


Row = Mapping[str, Any]


@dataclass(frozen=True)
class Pooled:
    """The estimate of a mean over sets, and the standard deviation ``between`` the true effects of sets."""

    estimate: Estimate
    between: float

    def new_set(self, level: float) -> tuple[float, float]:
        """Interval that has the true effect of a further set with probability 1 - ``level`` (Higgins and others 2009, eq. 12)."""
        half = float(stdtrit(self.estimate.df - 1, 1 - level / 2)) * hypot(self.estimate.error, self.between)
        return self.estimate.mean - half, self.estimate.mean + half


def pool(effects: FloatArray, errors: FloatArray) -> Pooled:
    """The mean of ``effects`` (n_sets,) with standard errors ``errors`` (n_sets,), all above 0; if they are nan, the mean alone."""
    if np.isnan(errors).any():
        return Pooled(Estimate(float(effects.mean()), nan, nan, len(effects)), nan)
    tau2 = between_sets(effects, errors**2)
    weight = 1 / (errors**2 + tau2)
    mean = float((weight * effects).sum() / weight.sum())
    error = max(1 / sqrt(weight.sum()), float(np.sqrt((moved_without_each(effects, weight) ** 2).sum())))
    return Pooled(Estimate(mean, error, len(effects) - 1, len(effects)), sqrt(tau2))


def moved_without_each(effects: FloatArray, weight: FloatArray) -> FloatArray:
    """How far the weighted mean of ``effects`` (n_sets,) lies from that without each set, (n_sets,)."""
    share = weight / weight.sum()
    moved: FloatArray = share * (effects - share @ effects) / (1 - share)
    return moved


def between_sets(effects: FloatArray, variances: FloatArray) -> float:
    """Paule and Mandel's tau^2, by the Newton steps of DerSimonian and Kacker 2007: from 0 they rise to it and never pass it."""
    tau2, step = 0.0, np.inf
    while step > 1e-12 * tau2:
        weight = 1 / (variances + tau2)
        squares = (effects - (weight * effects).sum() / weight.sum()) ** 2
        excess = float((weight * squares).sum()) - (len(effects) - 1)
        step = excess / float((weight**2 * squares).sum()) if excess > 0 else 0.0
        tau2 += step
    return tau2


def believed_errors(sets: Sequence[Row], differing: int) -> FloatArray:
    """Standard errors of ``sets`` (``error``, ``n`` queries, ``differing`` of them); nan if no set has one to believe.

    Where fewer than ``differing`` queries differ, the spread that a set shows says little. It counts as at least that of a
    usual set: else a set in which nothing differs would have no error, and all the weight.
    """
    error, n, differ = (np.array([one[name] for one in sets], dtype=np.float64) for name in ("error", "n", "differing"))
    enough = differ >= differing
    usual = float(np.median((error * np.sqrt(n))[enough])) if enough.any() else np.nan
    return np.where(enough, error, np.maximum(error, usual / np.sqrt(n)))


def pooled_contrasts(rows: Iterable[Row], rules: Rules) -> dict[str, Pooled]:
    """Averages of the contrasts of one claim, from its ``rows`` on data sets; contrasts on too few independent sets are left out."""
    sets: dict[str, list[Row]] = {}
    for row in independent(rows):
        for one in row["estimates"]:
            sets.setdefault(one["contrast"], []).append(one)
    return {
        name: pool(np.array([one["mean"] for one in of]), believed_errors(of, rules.differing))
        for name, of in sets.items()
        if len(of) >= rules.sets
    }


def independent(rows: Iterable[Row]) -> list[Row]:
    """Of the ``rows`` of one claim those on public data, the first of each set of queries."""
    first: dict[str, Row] = {}
    for row in rows:
        if row["analysis"] in UNITS and row["estimates"]:
            first.setdefault(row["queries_of"], row)
    return list(first.values())


def averages(verdicts: pa.Table, rules: Rules | None = None) -> pa.Table:
    """Verdicts on the averages of claims over sets, from those on single data sets; families are corrected as on one of these."""
    rules, by_claim = rules or Rules(), dict[tuple[str, str], list[Row]]()
    for row in verdicts.to_pylist():
        by_claim.setdefault((row["study"], row["claim"]), []).append(row)
    pooled = {key: contrasts for key, rows in by_claim.items() if (contrasts := pooled_contrasts(rows, rules))}
    claims = {key: claim_of(by_claim[key][0]) for key in pooled}
    rows = []
    for study in dict.fromkeys(study for study, _ in pooled):
        of = {claim: contrasts for (name, claim), contrasts in pooled.items() if name == study}
        sizes = family_sizes([claims[study, claim] for claim in of], {claim: len(of[claim]) for claim in of})
        for claim, contrasts in of.items():
            rows.append(_row(by_claim[study, claim], claims[study, claim], contrasts, sizes[claim], rules))
    return verdicts_table(rows)


def with_averages(verdicts: pa.Table) -> pa.Table:
    """Verdicts on single data sets, after those on averages over them."""
    return pa.concat_tables([averages(verdicts), verdicts])


def claim_of(row: Row) -> Claim:
    """The claim that a verdict is about."""
    return Claim(row["claim"], **{name: row[name] for name in _DECLARED})


def _row(rows: Sequence[Row], claim: Claim, contrasts: Mapping[str, Pooled], size: int, rules: Rules) -> dict[str, Any]:
    one = decide_by_estimates(claim, {name: of.estimate for name, of in contrasts.items()}, size=size, rules=rules)
    if isnan(one.low):
        one = replace(one, reason=f"in no set do {rules.differing} queries differ")
    sets = independent(rows)
    of_claim = sets[0]["note"].partition(_BY_SOURCE)[0].removesuffix("; ")
    note = ["sets: " + ", ".join(row["dataset"] for row in sets), *filter(None, [of_claim])]
    if len(contrasts) == 1 and not isnan(one.low):
        low, high = next(iter(contrasts.values())).new_set(rules.alpha)
        note.insert(0, f"a new set: {low:+.4f} to {high:+.4f} ({100 * (1 - rules.alpha):g} %)")
    average = {"dataset": AVERAGE, "queries_of": "", "analysis": SETS, "estimates": [], "note": "; ".join(note)}
    return {**sets[0], **vars(one), **average, "commit": "", "configuration": ""}
