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
    DECLARED,
    EVIDENCE,
    FIXED,
    MEASURE,
    OF_CHOSEN,
    ORACLE,
    PAPERS,
    PER_QUERY,
    RRF,
    SPLIT,
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
_check = partial(Claim, purpose=CHECK)


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    grid = f"k: {len(options['ks'])} values, ridge: {len(options['lambdas'])}, trees: {len(options['leaves'])}, margin: {len(options['powers'])}"
    return Declaration("hybrid", "hybrid weights", (*_primary(grid), *_others(grid), *_checks()))


def _each(names: Iterable[str], controls: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """Methods against their controls, or against tuned fixed weights."""
    return {BY_NAME[name].label: (name, FIXED if controls is None else controls[name]) for name in names}


def _primary(grid: str) -> Iterator[Claim]:
    primary = partial(_beats, family=PRIMARY)
    yield primary(
        "gain",
        "weights per query, by the method that validation chooses, beat tuned fixed weights",
        (CHOSEN, FIXED),
        budget=f"fixed weights: every setting of the grid in each norm; {grid}; the chosen one is one of five",
        note="the primary comparison",
    )
    yield primary(
        "control",
        "the chosen method beats its own control, which knows nothing of the query",
        (CHOSEN, OF_CHOSEN),
        budget="a control has the same settings to choose from as its method",
        note="weights per query help only if this and the primary comparison hold",
    )
    yield _beats(
        "oracle",
        "the best weights of each query gain more than choosing the best of as many rankings that differ as much and know nothing",
        (ORACLE, DECLARED.text),
        budget="both choose by the judgments of the test query itself",
        note="noise runs, matched query by query and setting by setting in rank-biased overlap with the tuned ranking; mean of the draws",
    )
    papers = partial(_beats, family="papers", budget="two settings each, fixed weights every setting of the grid")
    text = "the methods of the papers beat tuned fixed weights"
    yield papers("papers", text, _each(PAPERS), expected="above 0 for every method")
    text, nothing = "reciprocal rank fusion is below tuned fixed weights", "RRF has nothing to choose"
    yield _beats("rrf", text, (FIXED, RRF), expected="fixed weights minus RRF above 0", budget=nothing)


def _others(grid: str) -> Iterator[Claim]:
    each = partial(_explores, expected="above 0 for every method", budget=grid)
    text = "every single method with weights per query beats"
    yield each("each - fixed", f"{text} tuned fixed weights", _each(PER_QUERY))
    yield each("each - control", f"{text} its control", _each(PER_QUERY, CONTROLS))
    text, stopping = "LambdaMART on the columns of all runs", "leaves on both sides, early stopping"
    yield _explores("trees - fixed", f"{text} beats tuned fixed weights", (TREES, FIXED), budget=stopping)
    yield _explores(
        "chosen - trees",
        f"weights per query beat {text}, which knows nothing of the query",
        (CHOSEN, TREES),
        budget="the chosen one is one of five; LambdaMART: leaves, early stopping",
        note="whether the gain is due to the query, or any richer fusion has it",
    )
    split = partial(
        _beats, purpose=CONTROL, family="two fixed weights", budget="settings of each part: those of the grid"
    )
    text = "two fixed weights, for queries for which a run finds fewer than ten documents and for the others,"
    yield split("split - fixed", f"{text} beat one", (SPLIT, FIXED))
    yield split("chosen - split", f"weights per query beat {text[:-1]}", (CHOSEN, SPLIT))
    same = partial(_explores, budget="the same settings")
    text, above = "predictors of the query help LambdaMART", "above LambdaMART with predictors of another query"
    yield same("query columns", text, (TREES_QUERIES, CONTROLS[TREES_QUERIES]), expected=above)
    text = "judgments of similar queries say more than the document's prior"
    yield same("evidence - prior", text, (EVIDENCE, CONTROLS[EVIDENCE]))


def _checks() -> Iterator[Claim]:
    text, same = "the weights of all judged queries are the tuned fixed weights", "the same setting for every query"
    weight = "largest difference of a weight"
    yield _check("all neighbours", text, expected=same, kind="identical", measure=weight)
    text, oracle = "no choice among the settings of the grid is above the oracle", "largest difference from the oracle"
    yield _check("bound", text, expected="no query above", kind="bounded", limit=0.0, measure=oracle)
