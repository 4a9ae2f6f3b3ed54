"""The methods of the study: the one list of their names, labels, colours, models and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.learners.parameters import most_regularised_first
from qdrank.queries.sizes import Setting, neighbour_count, neighbour_counts
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

if TYPE_CHECKING:
    from qdrank.studies.geng2008.settings import Geng as _Keys
else:
    from qdrank.studies.study import Keys as _Keys


def _linear(
    name: str, label: str, colour: str, marker: str, line: str = "-", *, sees: str = "vectors", **given: Any
) -> Method:
    """A method with linear models, of which the fold has one for every setting."""
    return Method(name, label, colour, marker, line, sees=sees, tries=lambda run: run.options.tried(name), **given)


METHODS = (
    _linear("knn-online", "KNN Online", BLUE, MARKERS[0], models="neighbours"),
    _linear("knn-offline1", "KNN Offline-1", VERMILION, MARKERS[1], models="neighbours"),
    _linear("knn-offline2", "KNN Offline-2", GREEN, MARKERS[2], models="neighbours"),
    _linear("single", "Single", BLACK, MARKERS[3], models="global", sees=""),
    _linear("qc", "QC", PURPLE, MARKERS[4], models="global", sees="query"),
    _linear("qc-documents", "QC from documents", PURPLE, MARKERS[5], models="global"),
    _linear("single-equal", "Single, equal query weights", GREY, MARKERS[3], models="global", sees=""),
    _linear("knn-equal", "KNN Online, equal query weights", SKY, MARKERS[0], models="equal"),
    _linear("knn-random", "random queries for neighbours", ORANGE, MARKERS[5], ":", models="random", refitted=True),
    Method("lambdamart", "LambdaMART", GREEN, MARKERS[6], refitted=True),
    Method("lambdamart-vectors", "LambdaMART with query vectors", ORANGE, MARKERS[6], refitted=True),
)
#: The paper's measure; its mean over the ranks chooses settings and compares methods.
MEASURE = "mean_ndcg/geng"
#: Methods by name in the order of figures and tables, first stages last.
BY_NAME = {method.name: method for method in (*METHODS, *FIRST_STAGE_METHODS)}
#: The five methods of the paper; all others are controls and baselines that we add.
PAPER = ("knn-online", "knn-offline1", "knn-offline2", "single", "qc")
KNN, OFFLINE = PAPER[:3], PAPER[1:3]
#: QC as in the paper, whose classifier sees the query alone, and with a classifier that sees what KNN sees.
QC = ("qc", "qc-documents")
#: Methods that rank with models of many queries, and those that use local models, with the neighbourhoods these are trained on.
GLOBAL = ("single", "single-equal", "qc", "qc-documents")
#: Boosted trees, and whether they see the query's vector beside each of its documents.
TREES = {"lambdamart": False, "lambdamart-vectors": True}
LOCAL = {method.name: method.models for method in METHODS if method.models not in ("", "global")}


def scored(section: Any) -> list[str]:
    """Methods whose scores come from the linear models; ``section`` is ``geng`` of the configuration."""
    return [*GLOBAL, *KNN, *(f"knn-{name}" for name in section.controls)]


def run(section: Any) -> list[str]:
    """Methods to run."""
    return [*scored(section), *(TREES if section.trees is not None else ())]


def neighbours_tried(section: Any) -> list[float]:
    """Numbers of neighbours of the local models; up to 1 they are shares of the training queries."""
    return [*section.ks, *([section.k] if section.choose == "fixed" else section.candidates)]


def controls(methods: list[str]) -> list[str]:
    """Controls that were run, in the order of tables."""
    return [name for name in BY_NAME if name in methods and name not in PAPER]


class Options(_Keys):
    """Keys of section ``geng`` that decide which models exist and how one is chosen, and the settings they define."""

    def curve(self, m: int) -> list[Setting]:
        """Settings of the curves against k: all ``ks`` at the one lambda."""
        return [Setting(k, self.lam) for k in neighbour_counts(self.ks, m)]

    def fixed(self, m: int) -> Setting:
        """The fixed setting, used when nothing is chosen."""
        return Setting(neighbour_count(self.k, m), self.lam)

    def eligible(self, m: int) -> list[Setting]:
        """Settings a local model may have: the fixed one, or all that validation chooses from, in order."""
        if self.choose == "fixed":
            return [self.fixed(m)]
        ks = most_regularised_first("k", neighbour_counts(self.candidates, m))
        return [Setting(k, lam) for lam in most_regularised_first("lam", self.lambdas) for k in ks]

    def swept(self, m: int) -> list[Setting]:
        """Settings of all models of nearest neighbours: those of the curves, and those to choose from."""
        return [*self.curve(m), *self.eligible(m)]
