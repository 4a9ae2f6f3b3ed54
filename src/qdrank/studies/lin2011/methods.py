"""The methods of the study: the one list of their names, labels, colours and models; and the options of what is computed."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.learners.parameters import most_regularised_first
from qdrank.studies.study import Method

if TYPE_CHECKING:
    from qdrank.studies.lin2011.settings import Lin as _Keys
else:
    from qdrank.studies.study import Keys as _Keys


Kind = Literal["single", "naive", "select", "transform"]
"""The global model, or algorithm 1, 2 or 3."""
Weights = Literal["own", "uniform", "other"]
"""What a query's clusters count: its own weights, the same for all clusters, or the weights of another query."""

RANKSVM = "lin-ranksvm"
NAIVE, SELECT, TRANSFORM = "lin-naive", "lin-selectranker", "lin-transform"
#: The methods of the paper, and those among them that aggregate.
PAPER = (NAIVE, SELECT, TRANSFORM)
AGGREGATING = PAPER[1:]


def _method(
    name: str,
    label: str,
    colour: str,
    marker: str,
    line: str = "-",
    *,
    scheme: str,
    kind: Kind,
    counted: Weights = "own",
) -> Method:
    """A method of clusters; one with its own weights is also shown for every number of clusters."""
    return Method(
        name,
        label,
        colour,
        marker,
        line,
        models=scheme,
        tries=lambda run: run.options.rankers(scheme, kind, counted),
        shown=lambda run, _: run.options.by_clusters(run, name) if counted == "own" else {},
    )


_NAIVE: dict[str, Any] = {"scheme": "pairs", "kind": "naive"}
_SELECT: dict[str, Any] = {"scheme": "pairs", "kind": "select"}
_TRANSFORM: dict[str, Any] = {"scheme": "transformed", "kind": "transform"}
_RANDOM, _DRAWN = {"scheme": "pairs-random"}, {"scheme": "transformed-random"}
#: The controls use random clusters of the same sizes, or the same clusters with weights that know nothing of the query.
METHODS = (
    Method(RANKSVM, "RankSVM", BLACK, MARKERS[3], models="global", tries=lambda run: [run.options.single]),
    _method(NAIVE, "Naive", BLUE, MARKERS[0], **_NAIVE),
    _method(SELECT, "SelectRanker", VERMILION, MARKERS[1], **_SELECT),
    _method(TRANSFORM, "Transform", GREEN, MARKERS[2], **_TRANSFORM),
    _method(f"{NAIVE}-random", "Naive, random clusters", SKY, MARKERS[0], ":", **_NAIVE | _RANDOM),
    _method(f"{SELECT}-random", "SelectRanker, random clusters", ORANGE, MARKERS[1], ":", **_SELECT | _RANDOM),
    _method(f"{TRANSFORM}-random", "Transform, random clusters", GREY, MARKERS[2], ":", **_TRANSFORM | _DRAWN),
    _method(f"{NAIVE}-other", "Naive, cluster of another query", SKY, MARKERS[4], **_NAIVE, counted="other"),
    _method(
        f"{SELECT}-other", "SelectRanker, weights of another query", ORANGE, MARKERS[4], **_SELECT, counted="other"
    ),
    _method(
        f"{TRANSFORM}-other", "Transform, weights of another query", GREY, MARKERS[4], **_TRANSFORM, counted="other"
    ),
    _method(f"{SELECT}-uniform", "SelectRanker, equal weights", ORANGE, MARKERS[5], **_SELECT, counted="uniform"),
    _method(f"{TRANSFORM}-uniform", "Transform, equal weights", GREY, MARKERS[5], **_TRANSFORM, counted="uniform"),
)
#: Lines of Figure 2 that use the judgments of the test query, and the controls of the upper bound.
ORACLES = (
    Method("relevant-only", "RelevantOnly", PURPLE, MARKERS[4]),
    Method("upper-bound", "UpperBound", BLACK, MARKERS[6]),
    Method("upper-bound-perturbed", "UpperBound of perturbed RankSVMs", ORANGE, MARKERS[5]),
    Method("upper-bound-random", "UpperBound of random clusters", GREY, MARKERS[7], ":"),
)
BY_NAME = {method.name: method for method in (*METHODS, *ORACLES)}


def run(section: Any) -> list[str]:
    """Methods whose scores are written, with the first seed of the clusters; ``section`` is ``lin``."""
    return [method.name for method in METHODS if section.random or not method.name.endswith("-random")]


def label(method: str) -> str:
    """Label of a method."""
    return BY_NAME[method].label


class Readings(_Keys):
    """The inferred choices: the keys from ``training_set`` on."""


class Grid(_Keys):
    """The settings that validation chooses from."""

    def sizes(self, kind: str) -> list[int]:
        """Values of t of Naive, or of k of SelectRanker; Transform has neither: 0."""
        given = {"naive": ("t", "ts"), "select": ("k", "ks")}
        return most_regularised_first(given[kind][0], getattr(self, given[kind][1])) if kind in given else [0]

    @property
    def models(self) -> list[tuple[int, float]]:
        """Numbers of clusters and lambdas in the order tried."""
        return list(product(most_regularised_first("m", self.ms), most_regularised_first("lam", self.lambdas)))

    @property
    def budget(self) -> int:
        """Largest number of settings that any method chooses from; the global Ranking SVM gets as many."""
        return len(set(self.ms)) * len(set(self.lambdas)) * max(len(set(self.ts)), len(set(self.ks)), 1)
