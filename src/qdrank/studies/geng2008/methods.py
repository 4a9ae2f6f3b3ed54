"""The methods of the study: the one list of their names, labels, colours and models."""

from __future__ import annotations

from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

METHODS = (
    Method("knn-online", "KNN Online", BLUE, MARKERS[0], models="neighbours"),
    Method("knn-offline1", "KNN Offline-1", VERMILION, MARKERS[1], models="neighbours"),
    Method("knn-offline2", "KNN Offline-2", GREEN, MARKERS[2], models="neighbours"),
    Method("single", "Single", BLACK, MARKERS[3], models="global"),
    Method("qc", "QC", PURPLE, MARKERS[4], models="global"),
    Method("qc-documents", "QC from documents", PURPLE, MARKERS[5], models="global"),
    Method("single-equal", "Single, equal query weights", GREY, MARKERS[3], models="global"),
    Method("knn-equal", "KNN Online, equal query weights", SKY, MARKERS[0], models="equal"),
    Method(
        "knn-random", "random queries for neighbours", ORANGE, MARKERS[5], ":", models="random", refitted=("online",)
    ),
    Method("lambdamart", "LambdaMART", GREEN, MARKERS[6], refitted=("learner", "lambdamart")),
    Method(
        "lambdamart-vectors",
        "LambdaMART with query vectors",
        ORANGE,
        MARKERS[6],
        refitted=("learner", "lambdamart", "with-vectors"),
    ),
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
#: Kinds of variants of KNN Online, in the order of their table.
VARIANT_KINDS = ("metrics", "vectors", "offline", "clusters")
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
