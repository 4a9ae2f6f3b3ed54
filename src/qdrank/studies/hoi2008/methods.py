"""The methods of the study: the one list of their names, labels, colours and recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

#: Rules for tied documents, and the suffix for the name of a method that does not use the first rule.
TIES: dict[str, str] = {"half": "", "file": "-file"}
_LABELS = {"half": "", "file": " (file order)"}


def with_ties(name: str, ties: str) -> str:
    """Name of a method under a rule for ties."""
    return name + TIES[ties]


#: Learners of other papers that this one is compared with; `qdrank.rankers.methods` trains them.
BASELINES = (
    Method("rankboost", "RankBoost", GREEN, MARKERS[2]),
    Method("ranksvm", "Ranking SVM", BLACK, MARKERS[3]),
    Method("listnet", "ListNet", ORANGE, MARKERS[4]),
    Method("adarank-map", "AdaRank", PURPLE, MARKERS[5]),
    Method("mhr-bc", "MHR-BC", GREY, MARKERS[6]),
)
#: The gamma that the paper says works well.
GAMMA = 0.5
#: Ensembles whose weights depend on gamma, which validation chooses; names without the rule for ties.
PATHS = ("sser", "sser-tuned", "sser-varying", "sser-printed", "sser-other")
#: Ensembles that solve programs of their own.
SOLVED = ("ser", "ser-tuned", "ser-varying", "ser-free", *PATHS[:-1])


def _ensembles(ties: str) -> Iterator[Method]:
    """SER, SSER and their variants under a rule for ties."""

    def made(name: str) -> Callable[[Any], Any]:
        return lambda run: run.made[with_ties(name, ties)]

    def others(run: Any) -> Any:
        return run.options.of_others(ser(run), run.seed)

    ser, tuned, constant = made("ser"), "C, theta and delta tuned", "without constant rankers"
    other = "SSER with documents of another query"
    for name, label, colour, tries in (
        ("ser", "SER", SKY, lambda run: [run.options.ensemble(ties)]),
        ("sser", "SSER", BLUE, _along(ser)),
        ("sser-fixed", "SSER, gamma fixed", BLUE, lambda run: [_at(ser(run), GAMMA)]),
        ("ser-tuned", f"SER, {tuned}", VERMILION, lambda run: run.options.tried(ties)),
        ("sser-tuned", f"SSER, {tuned}", VERMILION, _along(made("ser-tuned"))),
        (
            "ser-varying",
            f"SER {constant}",
            GREEN,
            lambda run: [ser(run).without_constant(run.views[""].parts["train"][0])],
        ),
        ("sser-varying", f"SSER {constant}", GREEN, _along(made("ser-varying"))),
        ("ser-free", "SER without w >= 0", PURPLE, lambda run: [ser(run).changed(nonnegative=False)]),
        ("sser-printed", "SSER, eq. 13 as printed", GREY, _along(lambda run: ser(run).changed(printed=True))),
        ("sser-other", other, ORANGE, _along(others)),
        ("sser-other-fixed", f"{other}, gamma fixed", ORANGE, lambda run: [_at(others(run), GAMMA)]),
    ):
        kind = name.partition("-")[0]
        yield Method(
            with_ties(name, ties),
            label + _LABELS[ties],
            colour,
            MARKERS[0 if kind == "sser" else 1],
            "--" if TIES[ties] else "-",
            models=kind,
            refitted="other" in name,
            tries=tries,
            shown=_every_gamma if name in PATHS else _nothing,
        )


def _at(ensemble: Any, gamma: float) -> Any:
    """An ensemble, or the control around one, with another gamma."""
    return replace(ensemble, base=ensemble.base.at(gamma)) if hasattr(ensemble, "base") else ensemble.at(gamma)


def _along(start: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    """Every gamma to choose from, starting from an ensemble without gamma."""

    def tries(run: Any) -> list[Any]:
        first = start(run)
        return [_at(first, gamma) for gamma in run.options.eligible]

    return tries


def _every_gamma(run: Any, chosen: Any) -> dict[float, Any]:
    return {gamma: _at(chosen, gamma) for gamma in run.options.path}


def _nothing(_: Any, __: Any) -> dict[float, Any]:
    return {}


ENSEMBLES = tuple(method for ties in TIES for method in _ensembles(ties))


def _of_methods(kind: str) -> Callable[[Any], list[Any]]:
    return lambda run: run.options.stacked(kind, [run.made[name] for name in run.options.methods])


#: Ensembles of the methods above, learned on the validation queries; run if the configuration names methods.
STACKED_METHODS = (
    Method("ser-methods", "SER of methods", VERMILION, MARKERS[1], models="stacked", tries=_of_methods("ser")),
    Method("sser-methods", "SSER of methods", VERMILION, MARKERS[0], models="stacked", tries=_of_methods("sser")),
    Method(
        "borda-methods", "BordaCount of methods", VERMILION, MARKERS[7], models="stacked", tries=_of_methods("borda")
    ),
)
METHODS = (*BASELINES, *ENSEMBLES, *STACKED_METHODS)
#: Methods by name in the order of figures and tables, first stages last.
BY_NAME = {method.name: method for method in (*METHODS, *FIRST_STAGE_METHODS)}
#: The seven methods of the paper's figures.
PAPER = (*(method.name for method in BASELINES), "ser", "sser")
#: Methods of the learning curve, with fixed settings: choosing on validation would use labels that the curve does not count.
ON_CURVE = ("ser", "sser", "ranksvm", "listnet")


def ensembles() -> list[str]:
    """Methods whose scores come from the programs of the paper."""
    return [method.name for method in ENSEMBLES]


def stacked(section: Any) -> list[str]:
    """Ensembles of methods to run; ``section`` is ``hoi`` of the configuration."""
    return [method.name for method in STACKED_METHODS] if section.methods else []


def run(section: Any) -> list[str]:
    """Methods to run."""
    return [*section.baselines, *ensembles(), *stacked(section)]
