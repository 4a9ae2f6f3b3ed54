"""Claims of papers, each put to a test: what is expected, what is measured, and whether it holds.

The evidence for a claim is one or several *parts*, each with a value a test query (mostly a difference between two
methods on that query), so that the evidence of several seeds of a simulated set can be put together before it is
judged. A verdict is "holds", "does not hold" or "cannot tell": the last where the interval leaves both open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import pyarrow as pa
from scipy.special import stdtr, stdtrit

from qdrank.evaluation.significance import holm
from qdrank.groups import FloatArray

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot tell"

Parts = Mapping[str, FloatArray]
"""Values per test query by the name of the part."""


@dataclass(frozen=True)
class Rules:
    """When a difference counts: level of the tests, and the margin below which two methods are equal."""

    alpha: float = 0.05
    margin: float = 0.005


@dataclass(frozen=True)
class Judgement:
    """A verdict and the figures behind it."""

    verdict: str
    effect: float
    low: float
    high: float
    p: float
    measured: str


@dataclass(frozen=True)
class Mean:
    """Mean of some values with its t interval, and the p-value of the mean being 0."""

    mean: float
    low: float
    high: float
    p: float
    n: int

    @property
    def text(self) -> str:
        """As it stands in a table."""
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}], n = {self.n}"


def mean_of(values: FloatArray, alpha: float = 0.05) -> Mean:
    """Mean, t interval and two-sided p-value of ``values`` (n_queries,)."""
    x = np.round(np.asarray(values, dtype=np.float64), 12)
    n, mean = len(x), float(x.mean())
    error = float(x.std(ddof=1)) / sqrt(n) if n > 1 else nan
    if not error > 0:  # one query, or all alike
        known = n > 1
        return Mean(mean, mean if known else nan, mean if known else nan, float(mean == 0) if known else nan, n)
    half = float(stdtrit(n - 1, 1 - alpha / 2)) * error
    return Mean(mean, mean - half, mean + half, float(2 * stdtr(n - 1, -abs(mean / error))), n)


def judge_beats(parts: Parts, rules: Rules, p: float | None = None) -> Judgement:
    """The mean difference is above 0; ``p`` is the corrected p-value of the family, if there is one."""
    found = mean_of(parts["difference"], rules.alpha)
    p = found.p if p is None else p
    if p < rules.alpha and found.mean > 0:
        verdict = HOLDS
    elif found.high < rules.margin or (p < rules.alpha and found.mean < 0):
        verdict = FAILS
    else:
        verdict = UNCLEAR
    return Judgement(verdict, found.mean, found.low, found.high, p, found.text)


def judge_beats_not(parts: Parts, rules: Rules, p: float | None = None) -> Judgement:
    """The mean difference is not above 0: the opposite of `judge_beats`."""
    found = judge_beats(parts, rules, p)
    opposite = {HOLDS: FAILS, FAILS: HOLDS, UNCLEAR: UNCLEAR}
    return Judgement(opposite[found.verdict], found.effect, found.low, found.high, found.p, found.measured)


def judge_equal(parts: Parts, rules: Rules) -> Judgement:
    """The interval of the mean difference lies within the margin on both sides."""
    found = mean_of(parts["difference"], rules.alpha)
    if -rules.margin < found.low and found.high < rules.margin:
        verdict = HOLDS
    else:
        verdict = FAILS if found.p < rules.alpha else UNCLEAR
    return Judgement(verdict, found.mean, found.low, found.high, found.p, found.text)


def judge_rise_and_fall(parts: Parts, rules: Rules) -> Judgement:
    """The best k is better than the smallest (rise) and better than all training queries (fall)."""
    p = holm({name: mean_of(values).p for name, values in parts.items()}, family="rise and fall").adjusted
    found = {name: judge_beats({"difference": parts[name]}, rules, p[name]) for name in ("rise", "fall")}
    weaker = min(found.values(), key=lambda one: one.effect)
    verdicts = {one.verdict for one in found.values()}
    verdict = FAILS if FAILS in verdicts else HOLDS if verdicts == {HOLDS} else UNCLEAR
    text = "; ".join(f"{name} {one.measured}" for name, one in found.items())
    return Judgement(verdict, weaker.effect, weaker.low, weaker.high, weaker.p, text)


def judge_flat(parts: Parts, rules: Rules) -> Judgement:
    """No k of the range is worse than the best one by the margin."""
    found = {name: mean_of(values, rules.alpha) for name, values in parts.items()}
    name, worst = min(found.items(), key=lambda item: item[1].mean)
    if all(one.low > -rules.margin for one in found.values()):
        verdict = HOLDS
    else:
        verdict = FAILS if any(one.high < -rules.margin for one in found.values()) else UNCLEAR
    return Judgement(verdict, worst.mean, worst.low, worst.high, worst.p, f"worst at {name}: {worst.text}")


def judge_below(limit: float) -> Callable[[Parts, Rules], Judgement]:
    """The mean lies below ``limit``; values that are not finite are left out and counted."""

    def judge(parts: Parts, rules: Rules) -> Judgement:
        values = parts["value"]
        finite = values[np.isfinite(values)]
        found = mean_of(finite, rules.alpha)
        verdict = HOLDS if found.high < limit else FAILS if found.low > limit else UNCLEAR
        beside = f"; {len(values) - len(finite)} queries left out" if len(finite) < len(values) else ""
        text = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]{beside}"
        return Judgement(verdict, found.mean, found.low, found.high, nan, text)

    return judge


def judge_to_zero(parts: Parts, rules: Rules) -> Judgement:  # noqa: ARG001
    """The means of the latter half of the parts fall, to exactly 0 at the last.

    The first half does not count: with one neighbour a change ratio is 0 for a trivial reason.
    """
    means = [float(values[np.isfinite(values)].mean()) for values in parts.values()]
    half = len(means) // 2
    falls = all(b <= a for a, b in zip(means[half:], means[half + 1 :], strict=False))
    verdict = HOLDS if means[-1] == 0 and falls else FAILS
    text = ", ".join(f"{mean:.3f} at {name}" for name, mean in zip(parts, means, strict=True))
    return Judgement(verdict, means[-1], nan, nan, nan, text)


def judge_identical(parts: Parts, rules: Rules) -> Judgement:  # noqa: ARG001
    """Every single value is 0."""
    worst = float(np.abs(parts["difference"]).max())
    text = f"largest difference {worst:.1e}, {len(parts['difference'])} values"
    return Judgement(HOLDS if worst == 0 else FAILS, worst, nan, nan, nan, text)


def judge_bounded(parts: Parts, rules: Rules) -> Judgement:  # noqa: ARG001
    """Every single value, observed over bound, is 1 at most."""
    values = parts["value"]
    worst = float(values.max())
    text = f"largest ratio {worst:.2g}, median {np.median(values):.2g}, {len(values)} values"
    return Judgement(HOLDS if worst <= 1 else FAILS, worst, nan, nan, nan, text)


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: its text, what is expected in figures, how it is judged.

    Claims of one ``family`` are tested together: their p-values are corrected after Holm.
    """

    paper: str
    text: str
    expected: str
    judge: Callable[..., Judgement]
    family: str = ""


Evidence = Mapping[str, Parts]
"""Parts by the name of the claim."""


def judge_all(
    claims: Mapping[str, Claim], evidence: Evidence, rules: Rules, *, dataset: str, note: str = ""
) -> pa.Table:
    """The artifact ``claims``: every claim for which there is evidence."""
    found = {name: evidence[name] for name in claims if name in evidence}
    corrected = _corrected({name: claims[name].family for name in found}, found)
    rows = []
    for name, parts in found.items():
        claim = claims[name]
        extra = (corrected[name],) if name in corrected else ()
        one = claim.judge(parts, rules, *extra)
        row: dict[str, object] = {"paper": claim.paper, "claim": claim.text, "dataset": dataset}
        row |= {"expected": claim.expected}
        row |= {"measured": one.measured, "effect": one.effect, "low": one.low, "high": one.high, "p_value": one.p}
        rows.append(row | {"verdict": one.verdict, "note": note})
    return claims_table(rows)


def _corrected(family: Mapping[str, str], evidence: Evidence) -> dict[str, float]:
    """P-values corrected within each family."""
    adjusted: dict[str, float] = {}
    for group in sorted(set(family.values()) - {""}):
        p = {name: mean_of(evidence[name]["difference"]).p for name in family if family[name] == group}
        adjusted |= holm(p, family=group).adjusted
    return adjusted


def claims_table(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Rows as the artifact ``claims``; figures that make no sense for a claim are null."""
    texts = ("paper", "claim", "dataset", "expected", "measured", "verdict", "note")
    numbers = ("effect", "low", "high", "p_value")
    columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in texts}
    columns |= {name: pa.array([row[name] for row in rows], pa.float64(), from_pandas=True) for name in numbers}
    order = ["paper", "claim", "dataset", "expected", "measured", *numbers, "verdict", "note"]
    return pa.table({name: columns[name] for name in order})


# ---- evidence as an artifact -------------------------------------------------------------------------------------


def evidence_table(evidence: Evidence) -> pa.Table:
    """Evidence as rows: claim, part, value."""
    rows = [(name, part, values) for name, parts in evidence.items() for part, values in parts.items()]
    names = [name for name, _, values in rows for _ in values]
    parts = [part for _, part, values in rows for _ in values]
    return pa.table(
        {
            "claim": pa.array(names, pa.string()),
            "part": pa.array(parts, pa.string()),
            "value": np.concatenate([np.asarray(values, dtype=np.float64) for _, _, values in rows]),
        }
    )


def pooled_evidence(tables: Sequence[pa.Table]) -> dict[str, dict[str, FloatArray]]:
    """Evidence of one data set, or of several seeds put together."""
    found: dict[str, dict[str, list[FloatArray]]] = {}
    for table in tables:
        claim, part = (table.column(name).to_numpy(zero_copy_only=False) for name in ("claim", "part"))
        values = table.column("value").to_numpy()
        for name, piece in dict.fromkeys(zip(claim.tolist(), part.tolist(), strict=True)):
            own = values[(claim == name) & (part == piece)]
            found.setdefault(name, {}).setdefault(piece, []).append(own)
    return {name: {part: np.concatenate(v) for part, v in parts.items()} for name, parts in found.items()}


# ---- data sets together ------------------------------------------------------------------------------------------


def judge_groups(
    claims: Mapping[str, Claim],
    groups: Mapping[str, Mapping[str, Evidence]],
    rules: Rules,
    across: Callable[[Mapping[str, Evidence]], Sequence[pa.Table]] | None = None,
) -> pa.Table:
    """Verdicts for every group of data sets, the evidence of its members put together.

    Parameters
    ----------
    claims : of a study
    groups : evidence by group and member; a group of several members is several seeds of one simulated set
    rules : when a difference counts
    across : gives the verdicts on claims that compare data sets, from the evidence of all groups
    """
    pooled = {name: pooled_evidence([evidence_table(e) for e in own.values()]) for name, own in groups.items()}
    tables = []
    for name, found in pooled.items():
        n = len(groups[name])
        table = judge_all(claims, found, rules, dataset=name if n == 1 else f"{name} ({n} seeds)")
        tables.append(_with_notes(table, claims, groups[name]) if n > 1 else table)
    return pa.concat_tables([*tables, *(across(pooled) if across else ())])


def _with_notes(table: pa.Table, claims: Mapping[str, Claim], members: Mapping[str, Evidence]) -> pa.Table:
    """Effects of the single seeds as a note."""
    effects = [
        {row["claim"]: row["effect"] for row in judge_all(claims, own, Rules(), dataset="").to_pylist()}
        for own in members.values()
    ]
    notes = [
        "by seed: " + ", ".join(f"{one[text]:+.4f}" for one in effects if one.get(text) is not None)
        for text in table.column("claim").to_pylist()
    ]
    return table.set_column(table.column_names.index("note"), "note", pa.array(notes, pa.string()))
