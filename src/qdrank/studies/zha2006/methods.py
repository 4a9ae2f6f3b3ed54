"""The methods of the study: the one list of their names, labels, colours and markers; and the options of what is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.learners.parameters import most_regularised_first
from qdrank.studies.study import Method

if TYPE_CHECKING:
    from qdrank.studies.zha2006.settings import Zha as _Keys
else:
    from qdrank.studies.study import Keys as _Keys

#: Regressors by name, with their labels.
REGRESSORS = {"ridge": "ridge", "trees": "boosted trees"}
#: Kinds of methods built from each regressor: label, colour and marker.
FITTED_KINDS = {
    "plain": ("plain regression", BLACK, MARKERS[3]),
    "atvt": ("aTVT", BLUE, MARKERS[0]),
    "fixed": ("aTVT, the paper's penalties", SKY, MARKERS[0]),
    "l1": ("aTVT, L1", VERMILION, MARKERS[1]),
    "scale": ("scale alone", ORANGE, MARKERS[4]),
    "centred": ("offset alone (query-centred)", GREEN, MARKERS[2]),
    "unweighted": ("aTVT without weights", PURPLE, MARKERS[5]),
    "pairwise": ("", GREY, MARKERS[6]),
}
#: The pairwise or listwise learner that each regressor is compared with.
PAIRWISE = {"ridge": ("ranksvm", "RankSVM"), "trees": ("lambdamart", "LambdaMART")}

#: Kinds that are compared in claims, and refitted to jittered targets where the regressor is unstable.
REFITTED = ("plain", "atvt", "fixed", "l1", "scale", "centred", "weak")
#: Kinds in the tables of cells and of maps, in the order of their rows; further fits follow.
CELL_KINDS = ("plain", "atvt", "l1", "scale", "centred", "fixed", "unweighted", "grid", "weak", "limit", "paper-l1")
MAP_KINDS = ("grid", "atvt", "l1", "paper-l1", "weak")


def cell_kinds(refits: int) -> list[str]:
    """Kinds in the table of cells, in the order of its rows, if there are ``refits`` fits in all."""
    further = [refit_kind(kind, number) for number in range(1, refits) for kind in REFITTED]
    return [*CELL_KINDS, *further, "limit scores"]


def refit_kind(kind: str, number: int) -> str:
    """Kind of a fit in the table of cells; number 0 is the first."""
    return f"{kind}, fit {number}" if number else kind


def method_name(h: str, kind: str) -> str:
    """Name of a method in files and tables, such as zha-ridge-plain."""
    return f"zha-{h}-{kind}"


def _label(h: str, kind: str) -> str:
    """Label of a method in tables and claims."""
    return PAIRWISE[h][1] if kind == "pairwise" else f"{FITTED_KINDS[kind][0]}, {REGRESSORS[h]}"


def is_refitted(h: str, kind: str) -> bool:
    """Whether a method is fitted several times: boosted trees that are compared, and the learner that they are set against."""
    return h == "trees" and kind in (*REFITTED, "pairwise")


def _tries(h: str, kind: str) -> Callable[[Any], Any]:
    if kind == "pairwise":
        return lambda run: run.options[h].pairwise(PAIRWISE[h][0])
    plain = method_name(h, "plain")
    return lambda run: run.options[h].tried(kind, None if kind == "plain" else run.made[plain])


METHODS = tuple(
    Method(
        method_name(h, kind),
        _label(h, kind),
        colour,
        marker,
        models=h,
        refitted=is_refitted(h, kind),
        tries=_tries(h, kind),
    )
    for h in REGRESSORS
    for kind, (_, colour, marker) in FITTED_KINDS.items()
)


#: The kernel form of the paper's theorems, on documents drawn at random: exploratory, in no claim, figure or table of the study.
KERNEL_METHODS = tuple(
    Method(
        method_name("kernel", kind),
        f"{label}, Gaussian kernel",
        colour,
        marker,
        models="kernel",
        tries=_tries("kernel", kind),
    )
    for kind, (label, colour, marker) in FITTED_KINDS.items()
    if kind in ("plain", "atvt", "fixed")
)


def run(section: Any) -> list[str]:
    """Methods to run; ``section`` is ``zha`` of the configuration."""
    return [method.name for method in (*METHODS, *KERNEL_METHODS) if method.models in section.regressors]


Cell = tuple[float, float]
"""lam_alpha and lam_beta."""


class Options(_Keys):
    """Keys of section ``zha`` that decide what is computed, under the same names.

    ``refits`` is shared by all studies; ``usual`` has the usual grids of the learners that regressors are set against.
    """

    refits: int
    usual: Mapping[str, Mapping[str, list[Any]]]

    @property
    def cells(self) -> list[Cell]:
        """Penalties that validation chooses from, from the most to the least regularised."""
        return [(a, b) for a in self.scale_penalties for b in most_regularised_first("lam_beta", self.lam_beta)]

    @property
    def scale_penalties(self) -> list[float]:
        """Values of ``lam_alpha`` in the order tried."""
        return most_regularised_first("lam_alpha", self.lam_alpha)

    @property
    def rates(self) -> list[float]:
        """``learning_rates`` in the order tried."""
        return most_regularised_first("learning_rate", self.learning_rates)

    @property
    def cross(self) -> list[Cell]:
        """Cells that share a penalty with the paper's: the few to try with L1."""
        return [cell for cell in self.cells if cell[0] == self.paper_alpha or cell[1] == self.paper_beta]

    @property
    def paper(self) -> Cell:
        """Penalties of the paper's tables 5 to 7."""
        return self.paper_alpha, self.paper_beta
