"""The rankers of the study from plain to query-dependent, each with its control."""

from __future__ import annotations

from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

SINGLE, TREES = "beyond-single", "beyond-lambdamart"
FIXED, GATED, CHOSEN = "beyond-fixed", "beyond-gated", "beyond-chosen"
WITH_EVIDENCE = ("beyond-evidence", "beyond-trees-evidence")
#: Measure used for tuning and for comparisons.
MEASURE = "ap"

METHODS = (
    Method(SINGLE, "Single", BLACK, MARKERS[0]),
    Method(TREES, "LambdaMART", GREY, MARKERS[1], refitted=()),
    Method("beyond-knn", "nearest queries", SKY, MARKERS[2]),
    Method("beyond-proximal", "nearest queries, close to Single", SKY, MARKERS[3]),
    Method("beyond-kernel", "kernel weights, mixed with Single", BLUE, MARKERS[4]),
    Method("beyond-bilinear", "bilinear", BLUE, MARKERS[5]),
    Method(
        "beyond-trees-queries",
        "LambdaMART with query vector",
        GREY,
        MARKERS[6],
        refitted=("with-vectors", "trees"),
    ),
    Method("beyond-evidence", "Single with neighbours' judgments", VERMILION, MARKERS[0]),
    Method(
        "beyond-trees-evidence",
        "LambdaMART with neighbours' judgments",
        ORANGE,
        MARKERS[1],
        refitted=("with-evidence", "trees", "evidence", "candidates", "words", "vectors"),
    ),
    Method(FIXED, "fixed mixture", GREEN, MARKERS[2], refitted=()),
    Method(GATED, "gated mixture", GREEN, MARKERS[3], refitted=()),
    Method(CHOSEN, "query-dependent, chosen on validation", PURPLE, MARKERS[7], refitted=()),
)
BY_NAME = {method.name: method for method in (*METHODS, *FIRST_STAGE_METHODS)}

#: From each query-dependent ranker to its control: the same ranker without its knowledge of the query.
CONTROLS = {
    "beyond-knn": "knn, random neighbours",
    "beyond-proximal": "proximal, random neighbours",
    "beyond-kernel": "kernel, vectors of other queries",
    "beyond-bilinear": "bilinear, vectors of other queries",
    "beyond-trees-queries": "LambdaMART, vectors of other queries",
    "beyond-evidence": "Single with the document's prior",
    "beyond-trees-evidence": "LambdaMART with the document's prior",
    GATED: "fixed mixture",
}
#: A second control of the gated mixture, besides the fixed one.
OTHER_GATE = "gated mixture, vectors of other queries"
#: Controls that draw nothing, so that one fit is all there is to know.
FIXED_CONTROLS = (CONTROLS["beyond-evidence"],)
#: Control of the ranker that validation chose: that ranker's own.
OF_CHOSEN = "control of the chosen ranker"


def run(_: Any) -> list[str]:
    """Methods to run: all of them."""
    return [method.name for method in METHODS]
