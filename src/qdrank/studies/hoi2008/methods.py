"""The methods of the study: the one list of their names, labels, colours and recipes."""

from __future__ import annotations

from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

#: Rules for tied documents, and the suffix for the name of a method that does not use the first rule.
TIES = {"half": "", "file": "-file"}
_LABELS = {"half": "", "file": " (file order)"}

#: Learners of other papers that this one is compared with; `qdrank.rankers.methods` trains them.
BASELINES = (
    Method("rankboost", "RankBoost", GREEN, MARKERS[2]),
    Method("ranksvm", "Ranking SVM", BLACK, MARKERS[3]),
    Method("listnet", "ListNet", ORANGE, MARKERS[4]),
    Method("adarank-map", "AdaRank", PURPLE, MARKERS[5]),
    Method("mhr-bc", "MHR-BC", GREY, MARKERS[6]),
)
#: Name, label, colour, and whether each query has its own weights.
_ENSEMBLES = (
    ("ser", "SER", SKY, False),
    ("sser", "SSER", BLUE, True),
    ("sser-fixed", "SSER, gamma fixed", BLUE, True),
    ("ser-tuned", "SER, C, theta and delta tuned", VERMILION, False),
    ("sser-tuned", "SSER, C, theta and delta tuned", VERMILION, True),
    ("ser-varying", "SER without constant rankers", GREEN, False),
    ("sser-varying", "SSER without constant rankers", GREEN, True),
    ("ser-free", "SER without w >= 0", PURPLE, False),
    ("sser-printed", "SSER, eq. 13 as printed", GREY, True),
    ("sser-other", "SSER with documents of another query", ORANGE, True),
    ("sser-other-fixed", "SSER with documents of another query, gamma fixed", ORANGE, True),
)
ENSEMBLES = tuple(
    Method(
        name + suffix,
        label + _LABELS[ties],
        colour,
        MARKERS[0 if semi else 1],
        "--" if suffix else "-",
        models="sser" if semi else "ser",
        refitted=("ensemble", "sser") if "other" in name else None,
    )
    for ties, suffix in TIES.items()
    for name, label, colour, semi in _ENSEMBLES
)
#: Ensembles of the methods above, learned on the validation queries; run if the configuration names methods.
STACKED_METHODS = (
    Method("ser-methods", "SER of methods", VERMILION, MARKERS[1], models="stacked"),
    Method("sser-methods", "SSER of methods", VERMILION, MARKERS[0], models="stacked"),
    Method("borda-methods", "BordaCount of methods", VERMILION, MARKERS[7], models="stacked"),
)
METHODS = (*BASELINES, *ENSEMBLES, *STACKED_METHODS)
#: Methods by name in the order of figures and tables, first stages last.
BY_NAME = {method.name: method for method in (*METHODS, *FIRST_STAGE_METHODS)}
#: The seven methods of the paper's figures.
PAPER = (*(method.name for method in BASELINES), "ser", "sser")
#: Ensembles whose weights depend on gamma, and all ensembles that are solved; names without the rule for ties.
PATHS = ("sser", "sser-tuned", "sser-varying", "sser-printed", "sser-other")
#: Methods of the learning curve, with fixed settings: choosing on validation would use labels that the curve does not count.
ON_CURVE = ("ser", "sser", "ranksvm", "listnet")
SOLVED = ("ser", "ser-tuned", "ser-varying", "ser-free", *PATHS)


def with_ties(name: str, ties: str) -> str:
    """Name of a method under a rule for ties."""
    return name + TIES[ties]


def ensembles() -> list[str]:
    """Methods whose scores come from the programs of the paper."""
    return [method.name for method in ENSEMBLES]


def stacked(section: Any) -> list[str]:
    """Ensembles of methods to run; ``section`` is ``hoi`` of the configuration."""
    return [method.name for method in STACKED_METHODS] if section.methods else []


def run(section: Any) -> list[str]:
    """Methods to run."""
    return [*section.baselines, *ensembles(), *stacked(section)]
