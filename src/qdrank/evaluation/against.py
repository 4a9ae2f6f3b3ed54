"""Runs against a baseline: every difference with its interval, corrected p-value and the smallest that could be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdrank.evaluation.comparison import Comparison, compare, corrected_p
from qdrank.evaluation.declared import RULES_OF_RUNS
from qdrank.evaluation.pairs import Pairs, join
from qdrank.evaluation.run_files import MeasuredRun
from qdrank.measures.names import parse


@dataclass(frozen=True)
class Difference:
    """One run minus the baseline in one measure; ``p`` is the t test's, corrected for all differences of the table."""

    run: str
    measure: str
    comparison: Comparison
    p: float


def pairs_of(run: MeasuredRun, baseline: MeasuredRun, measure: str) -> Pairs:
    """Values of two runs, joined on the queries."""
    return join(run.query_id, run.values[measure], baseline.query_id, baseline.values[measure])


def differences(runs: Sequence[MeasuredRun], baseline: MeasuredRun, names: Sequence[str]) -> list[Difference]:
    """Every other run against the baseline in every measure of quality; p-values are corrected together, after Holm.

    Not in Judged: how much of a run was judged says nothing of how good it is.
    """
    tested = [name for name in names if parse(name).base != "judged"]
    asked = [(run, name) for run in runs if run is not baseline for name in tested]
    made = [
        compare(pairs_of(run, baseline, name), seed=0, family=len(asked), rules=RULES_OF_RUNS) for run, name in asked
    ]
    corrected = corrected_p(made, family="all runs and measures")
    return [Difference(run.name, name, one, p) for (run, name), one, p in zip(asked, made, corrected, strict=True)]
