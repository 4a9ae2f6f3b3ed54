"""The methods of the study: the one list of their names, labels, colours and models. Imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import Method

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
    Method(f"{NAIVE}-random", "Naive, random clusters", SKY, MARKERS[0], models="pairs-random"),
    Method(f"{SELECT}-random", "SelectRanker, random clusters", ORANGE, MARKERS[1], models="pairs-random"),
    Method(f"{TRANSFORM}-random", "Transform, random clusters", GREY, MARKERS[2], models="transformed-random"),
)
#: Lines of Figure 2 that use the judgments of the test query, and the controls of the upper bound.
ORACLES = (
    Method("relevant-only", "RelevantOnly", PURPLE, MARKERS[4]),
    Method("upper-bound", "UpperBound", BLACK, MARKERS[6]),
    Method("upper-bound-perturbed", "UpperBound of perturbed RankSVMs", ORANGE, MARKERS[5]),
    Method("upper-bound-random", "UpperBound of random clusters", GREY, MARKERS[7]),
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
    """

    scheme: str
    kind: Literal["naive", "select", "transform"]
    size: str = ""


_PAPER = {
    NAIVE: Algorithm("pairs", "naive", "t"),
    SELECT: Algorithm("pairs", "select", "k"),
    TRANSFORM: Algorithm("transformed", "transform"),
}
#: Every method that uses clusters; the controls use random clusters of the same sizes.
ALGORITHMS = _PAPER | {
    f"{name}-random": Algorithm(f"{one.scheme}-random", one.kind, one.size) for name, one in _PAPER.items()
}


def run(section: Any) -> list[str]:
    """Methods whose scores are written, with the first seed of the clusters; ``section`` is ``lin``."""
    return [RANKSVM, *PAPER, *(f"{name}-random" for name in PAPER if section.random)]


def label(method: str) -> str:
    """Label of a method."""
    return BY_NAME[method].label if method in BY_NAME else method
