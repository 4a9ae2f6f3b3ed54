"""The methods of the study, from single runs to weights that depend on the query, each of the latter with its control."""

from __future__ import annotations

from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import Method

FIXED, RRF, BEST, CHOSEN = "hybrid-fixed", "hybrid-rrf", "hybrid-best-run", "hybrid-chosen"
TREES, TREES_QUERIES, EVIDENCE = "hybrid-lambdamart", "hybrid-lambdamart-queries", "hybrid-evidence"
SSER = "hybrid-sser"
PREDICTED_TREES, SELECT, TRANSFORM = "hybrid-trees", "hybrid-selectranker", "hybrid-transform"
#: Measure used for tuning and for comparisons.
MEASURE = "ndcg@10/linear"

METHODS = (
    Method(BEST, "best single run", GREY, MARKERS[0]),
    Method(RRF, "RRF", GREY, MARKERS[1]),
    Method("hybrid-combsum", "CombSUM", GREY, MARKERS[2]),
    Method("hybrid-combmnz", "CombMNZ", GREY, MARKERS[3]),
    Method(FIXED, "tuned fixed weights", BLACK, MARKERS[0]),
    Method("hybrid-neighbours", "weights of the nearest judged queries", BLUE, MARKERS[0]),
    Method("hybrid-ridge", "weights by predictors, ridge", SKY, MARKERS[1]),
    Method(PREDICTED_TREES, "weights by predictors, trees", SKY, MARKERS[2], refitted=()),
    Method("hybrid-margin", "margin rule", BLUE, MARKERS[3]),
    Method("hybrid-select", "better run by predictors", BLUE, MARKERS[4]),
    Method(CHOSEN, "weights per query, chosen on validation", PURPLE, MARKERS[7], refitted=()),
    Method("hybrid-linear", "Ranking SVM on all columns", GREEN, MARKERS[0]),
    Method(TREES, "LambdaMART on all columns", GREEN, MARKERS[1], refitted=()),
    Method(TREES_QUERIES, "LambdaMART with predictors", GREEN, MARKERS[2], refitted=()),
    Method(EVIDENCE, "Ranking SVM with judgments of similar queries", ORANGE, MARKERS[0]),
    Method("hybrid-local", "local Ranking SVM", VERMILION, MARKERS[1], models="papers"),
    Method("hybrid-ser", "SER", VERMILION, MARKERS[2], models="papers"),
    Method("hybrid-atvt", "aTVT", VERMILION, MARKERS[3], models="papers"),
    Method("hybrid-gate", "weights linear in the query vector", VERMILION, MARKERS[4], models="papers"),
    Method(SSER, "SSER", VERMILION, MARKERS[5], models="papers"),
    Method(SELECT, "SelectRanker", VERMILION, MARKERS[6], models="papers", refitted=()),
    Method(TRANSFORM, "Transform", VERMILION, MARKERS[7], models="papers", refitted=()),
)
BY_NAME = {method.name: method for method in METHODS}

#: From each method to its control, which has the same settings to choose from and knows nothing of the query.
CONTROLS = {
    "hybrid-neighbours": "weights of random judged queries",
    "hybrid-ridge": "ridge, predictors of another query",
    PREDICTED_TREES: "trees, predictors of another query",
    "hybrid-margin": "margins of another query",
    "hybrid-select": "better run, predictors of another query",
    TREES_QUERIES: "LambdaMART, predictors of another query",
    EVIDENCE: "Ranking SVM with the document's prior",
    "hybrid-local": "local Ranking SVM, random training queries",
    "hybrid-gate": "gate, vectors of other queries",
    SSER: "SSER, documents of another query",
    SELECT: "SelectRanker, random clusters",
    TRANSFORM: "Transform, random clusters",
}
#: Methods that give each query weights of its own: validation chooses one of them.
PER_QUERY = ("hybrid-neighbours", "hybrid-ridge", PREDICTED_TREES, "hybrid-margin", "hybrid-select")
#: Methods of the papers that this project reproduces.
PAPERS = tuple(method.name for method in METHODS if method.models == "papers")
#: Rankers of other studies that they are made of, as files name them.
BORROWED = ("clusters", "ensemble")
#: Methods that draw at random and are fitted several times, or may be one of these.
REFITTED = tuple(method.name for method in METHODS if method.refitted is not None)
#: Control of the method that validation chose: that method's own.
OF_CHOSEN = "control of the chosen method"


def run(section: Any) -> list[str]:
    """Methods to run; ``section`` is ``hybrid`` of the configuration."""
    left_out = set() if section.semi_supervised else {SSER}
    names = [method.name for method in METHODS if section.papers or method.models != "papers"]
    return [name for name in names if name not in left_out]
