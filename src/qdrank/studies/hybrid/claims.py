"""Should the weights of a fusion depend on the query? What would count as success and as failure, written before the numbers.

The primary comparison of a data set: among the methods that give each query weights of its own, the one that validation
chooses, against fixed weights tuned on the same queries. Weights per query are said to help only if the chosen method also
beats its control, which knows nothing of the query. An oracle says something only if it gains more than choosing the best
of as many rankings that differ as much and know nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.hybrid.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    FIXED,
    MEASURE,
    OF_CHOSEN,
    PAPERS,
    PER_QUERY,
    RRF,
    TREES,
    TREES_QUERIES,
)

#: The smallest difference in NDCG@10 that counts.
MARGIN = 0.005

PRIMARY, EXPLORATORY = "primary", "exploratory"
_beats = partial(
    Claim, kind="superiority", margin=MARGIN, unit="NDCG@10", measure=MEASURE, expected="difference above 0"
)
_explores = partial(_beats, purpose=CONTROL, family=EXPLORATORY)


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    grid = f"k: {len(options['ks'])} values, ridge: {len(options['lambdas'])}, trees: {len(options['leaves'])}, margin: {len(options['powers'])}"
    return Declaration(study="hybrid", paper="hybrid weights", claims=(*_primary(grid), *_others(grid), *_checks()))


def _each(names: Iterable[str], controls: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """Methods against their controls, or against tuned fixed weights."""
    return {BY_NAME[name].label: (name, FIXED if controls is None else controls[name]) for name in names}


def _primary(grid: str) -> Iterator[Claim]:
    yield _beats(
        name="gain",
        text="weights per query, by the method that validation chooses, beat tuned fixed weights",
        compares=(CHOSEN, FIXED),
        family=PRIMARY,
        budget=f"fixed weights: every setting of the grid in each norm; {grid}; the chosen one is one of five",
        note="the primary comparison",
    )
    yield _beats(
        name="control",
        text="the chosen method beats its own control, which knows nothing of the query",
        compares=(CHOSEN, OF_CHOSEN),
        family=PRIMARY,
        budget="a control has the same settings to choose from as its method",
        note="weights per query help only if this and the primary comparison hold",
    )
    yield _beats(
        name="oracle",
        text="the best weights of each query gain more than choosing the best of as many rankings that differ as much and know nothing",
        budget="both choose by the judgments of the test query itself",
        note="noise runs, matched query by query and setting by setting in rank-biased overlap with the tuned ranking; mean of the draws",
    )
    yield _beats(
        name="papers",
        text="the methods of the papers beat tuned fixed weights",
        compares=_each(PAPERS),
        expected="above 0 for every method",
        family="papers",
        budget="two settings each, fixed weights every setting of the grid",
    )
    yield _beats(
        name="rrf",
        text="reciprocal rank fusion is below tuned fixed weights",
        compares=(FIXED, RRF),
        expected="fixed weights minus RRF above 0",
        budget="RRF has nothing to choose",
    )


def _others(grid: str) -> Iterator[Claim]:
    yield _explores(
        name="each - fixed",
        text="every single method with weights per query beats tuned fixed weights",
        compares=_each(PER_QUERY),
        expected="above 0 for every method",
        budget=grid,
    )
    yield _explores(
        name="each - control",
        text="every single method with weights per query beats its control",
        compares=_each(PER_QUERY, CONTROLS),
        expected="above 0 for every method",
        budget=grid,
    )
    yield _explores(
        name="trees - fixed",
        text="LambdaMART on the columns of all runs beats tuned fixed weights",
        compares=(TREES, FIXED),
        budget="leaves on both sides, early stopping",
    )
    yield _explores(
        name="chosen - trees",
        text="weights per query beat LambdaMART on the columns of all runs, which knows nothing of the query",
        compares=(CHOSEN, TREES),
        budget="the chosen one is one of five; LambdaMART: leaves, early stopping",
        note="whether the gain is due to the query, or any richer fusion has it",
    )
    yield _explores(
        name="query columns",
        text="predictors of the query help LambdaMART",
        compares=(TREES_QUERIES, CONTROLS[TREES_QUERIES]),
        expected="above LambdaMART with predictors of another query",
        budget="the same settings",
    )
    yield _explores(
        name="evidence - prior",
        text="judgments of similar queries say more than the document's prior",
        compares=(EVIDENCE, CONTROLS[EVIDENCE]),
        budget="the same settings",
    )


def _checks() -> Iterator[Claim]:
    yield Claim(
        name="all neighbours",
        text="the weights of all judged queries are the tuned fixed weights",
        expected="the same setting for every query",
        kind="identical",
        purpose=CHECK,
        measure="largest difference of a weight",
    )
    yield Claim(
        name="bound",
        text="no choice among the settings of the grid is above the oracle",
        expected="no query above",
        kind="bounded",
        limit=0.0,
        purpose=CHECK,
        measure="largest difference from the oracle",
    )
