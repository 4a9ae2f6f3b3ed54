"""The one list of the study's methods: name, label, and from which clusters it works. Nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["naive", "select", "transform"]


@dataclass(frozen=True)
class Method:
    """A method of the study, or a control.

    Attributes
    ----------
    label : as it stands in tables and figures
    family : clusterings whose models it uses
    kind : algorithm 1, 2 or 3
    size : name of the third number of its setting; empty where it has none
    """

    label: str
    family: str
    kind: Kind
    size: str = ""


RANKSVM = "lin-ranksvm"
NAIVE, SELECT, TRANSFORM = "lin-naive", "lin-selectranker", "lin-transform"

#: The methods of the paper.
PAPER: dict[str, Method] = {
    NAIVE: Method("Naive", "pairs", "naive", "t"),
    SELECT: Method("SelectRanker", "pairs", "select", "k"),
    TRANSFORM: Method("Transform", "transformed", "transform"),
}
#: The same with random clusters of the same sizes.
CONTROLS: dict[str, Method] = {
    f"{name}-random": Method(f"{one.label}, random clusters", f"{one.family}-random", one.kind, one.size)
    for name, one in PAPER.items()
}
METHODS = PAPER | CONTROLS
#: Lines of Figure 2 that need the test query's judgments, or are controls of those.
ORACLES = {
    "relevant-only": "RelevantOnly",
    "upper-bound": "UpperBound",
    "upper-bound-random": "UpperBound, random clusters",
    "upper-bound-perturbed": "UpperBound, perturbed RankSVM",
}
LABELS = {RANKSVM: "RankSVM"} | {name: one.label for name, one in METHODS.items()} | ORACLES
