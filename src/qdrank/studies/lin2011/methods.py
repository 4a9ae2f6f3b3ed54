"""The methods of the study: the one list of their names, labels, colours and models. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import Method

Weights = Literal["own", "uniform", "other"]
"""What a query's clusters count: its own weights, the same for all clusters, or the weights of another query."""

RANKSVM = "lin-ranksvm"
NAIVE, SELECT, TRANSFORM = "lin-naive", "lin-selectranker", "lin-transform"
#: The methods of the paper, and those among them that aggregate.
PAPER = (NAIVE, SELECT, TRANSFORM)
AGGREGATING = PAPER[1:]

METHODS = (
    Method(RANKSVM, "RankSVM", BLACK, MARKERS[3], models="global"),
    Method(NAIVE, "Naive", BLUE, MARKERS[0], models="pairs"),
    Method(SELECT, "SelectRanker", VERMILION, MARKERS[1], models="pairs"),
    Method(TRANSFORM, "Transform", GREEN, MARKERS[2], models="transformed"),
    Method(f"{NAIVE}-random", "Naive, random clusters", SKY, MARKERS[0], ":", models="pairs-random"),
    Method(f"{SELECT}-random", "SelectRanker, random clusters", ORANGE, MARKERS[1], ":", models="pairs-random"),
    Method(f"{TRANSFORM}-random", "Transform, random clusters", GREY, MARKERS[2], ":", models="transformed-random"),
    Method(f"{NAIVE}-other", "Naive, cluster of another query", SKY, MARKERS[4], models="pairs"),
    Method(f"{SELECT}-other", "SelectRanker, weights of another query", ORANGE, MARKERS[4], models="pairs"),
    Method(f"{TRANSFORM}-other", "Transform, weights of another query", GREY, MARKERS[4], models="transformed"),
    Method(f"{SELECT}-uniform", "SelectRanker, equal weights", ORANGE, MARKERS[5], models="pairs"),
    Method(f"{TRANSFORM}-uniform", "Transform, equal weights", GREY, MARKERS[5], models="transformed"),
)
#: Lines of Figure 2 that use the judgments of the test query, and the controls of the upper bound.
ORACLES = (
    Method("relevant-only", "RelevantOnly", PURPLE, MARKERS[4]),
    Method("upper-bound", "UpperBound", BLACK, MARKERS[6]),
    Method("upper-bound-perturbed", "UpperBound of perturbed RankSVMs", ORANGE, MARKERS[5]),
    Method("upper-bound-random", "UpperBound of random clusters", GREY, MARKERS[7], ":"),
)
BY_NAME = {method.name: method for method in (*METHODS, *ORACLES)}


@dataclass(frozen=True)
class Algorithm:
    """How a method ranks.

    Attributes
    ----------
    scheme : clusterings whose models it uses
    kind : algorithm 1, 2 or 3
    size : name of the third number of its setting; empty where it has none
    weights : its own, or those of a control that knows nothing of the query
    """

    scheme: str
    kind: Literal["naive", "select", "transform"]
    size: str = ""
    weights: Weights = "own"


_PAPER = {
    NAIVE: Algorithm("pairs", "naive", "t"),
    SELECT: Algorithm("pairs", "select", "k"),
    TRANSFORM: Algorithm("transformed", "transform"),
}
#: Every method that uses clusters. The controls use random clusters of the same sizes, or the same clusters with weights
#: that know nothing of the query.
ALGORITHMS = (
    _PAPER
    | {f"{name}-random": replace(one, scheme=f"{one.scheme}-random") for name, one in _PAPER.items()}
    | {f"{name}-other": replace(one, weights="other") for name, one in _PAPER.items()}
    | {f"{name}-uniform": replace(_PAPER[name], size="", weights="uniform") for name in AGGREGATING}
)


def run(section: Any) -> list[str]:
    """Methods whose scores are written, with the first seed of the clusters; ``section`` is ``lin``."""
    return [RANKSVM, *(name for name in ALGORITHMS if section.random or not name.endswith("-random"))]


def label(method: str) -> str:
    """Label of a method."""
    return BY_NAME[method].label if method in BY_NAME else method
