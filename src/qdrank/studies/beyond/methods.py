"""The rankers of the study from plain to query-dependent, what is retrieved with past queries, and their controls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import FIRST_STAGE_METHODS, Method

SINGLE, TREES = "beyond-single", "beyond-lambdamart"
FIXED, GATED, CHOSEN = "beyond-fixed", "beyond-gated", "beyond-chosen"
WITH_EVIDENCE = ("beyond-evidence", "beyond-trees-evidence")
#: Measure used for tuning and for comparisons.
MEASURE = "ap"
#: From each query-dependent ranker to its control: the same ranker without its knowledge of the query.
CONTROLS = {
    "beyond-knn": "knn, random neighbours",
    "beyond-proximal": "proximal, random neighbours",
    "beyond-kernel": "kernel, vectors of other queries",
    "beyond-bilinear": "bilinear, vectors of other queries",
    "beyond-trees-queries": "LambdaMART, vectors of other queries",
    "beyond-evidence": "Single with the document's prior",
    "beyond-trees-evidence": "LambdaMART with the document's prior",
    GATED: FIXED,
}
#: A second control of the gated mixture, besides the fixed one.
OTHER_GATE = "gated mixture, vectors of other queries"
#: Control of the ranker that validation chose: that ranker's own.
OF_CHOSEN = "control of the chosen ranker"


def _lam(run: Any) -> float:
    lam: float = run.made[SINGLE].lam
    return lam


def _gated(run: Any) -> list[Any]:
    options = run.options
    given = {"gate": True, "components": options.components}
    return [run.mixture(lam=lam, interactions=penalty, **given) for lam, penalty in options.gates]


def _without_near(run: Any, chosen: Any) -> dict[float, Any]:
    """The ranker without near-duplicate queries, fitted once, by the similarity from which on they are left out."""
    view = run.views[""]
    tried = {near: replace(chosen.evidence, exclude_near=near) for near in run.options.near}
    return {
        near: replace(chosen, base=chosen.base.fresh(), evidence=evidence).fit(*view.parts["train"], view.watched)
        for near, evidence in tried.items()
    }


METHODS = (
    Method(SINGLE, "Single", BLACK, MARKERS[0], tries=lambda run: run.options.linear()),
    Method(TREES, "LambdaMART", GREY, MARKERS[1], refitted=True, tries=lambda run: run.options.trees()),
    Method("beyond-knn", "nearest queries", SKY, MARKERS[2], tries=lambda run: run.options.nearest()),
    Method(
        "beyond-proximal",
        "nearest queries, close to Single",
        SKY,
        MARKERS[3],
        tries=lambda run: run.options.proximal(_lam(run)),
    ),
    Method(
        "beyond-kernel",
        "kernel weights, mixed with Single",
        BLUE,
        MARKERS[4],
        tries=lambda run: run.options.kernel(_lam(run)),
    ),
    Method("beyond-bilinear", "bilinear", BLUE, MARKERS[5], tries=lambda run: run.options.bilinear()),
    Method(
        "beyond-trees-queries",
        "LambdaMART with query vector",
        GREY,
        MARKERS[6],
        refitted=True,
        tries=lambda run: run.options.trees_with_vectors(),
    ),
    Method(
        "beyond-evidence",
        "Single with neighbours' judgments",
        VERMILION,
        MARKERS[0],
        tries=lambda run: run.options.with_evidence(run.options.linear()),
        shown=_without_near,
    ),
    Method(
        "beyond-trees-evidence",
        "LambdaMART with neighbours' judgments",
        ORANGE,
        MARKERS[1],
        refitted=True,
        tries=lambda run: run.options.with_evidence(run.options.trees()),
        shown=_without_near,
    ),
    Method(
        FIXED,
        "fixed mixture",
        GREEN,
        MARKERS[2],
        refitted=True,
        tries=lambda run: [run.mixture(lam=lam) for lam in run.options.penalties],
    ),
    Method(GATED, "gated mixture", GREEN, MARKERS[3], refitted=True, tries=_gated),
    Method(
        CHOSEN,
        "query-dependent, chosen on validation",
        PURPLE,
        MARKERS[7],
        refitted=True,
        same_as=lambda run: run.best([*CONTROLS]),
    ),
)


def _control(of: str, tries: Callable[[Any], Any] | None, name: str = "", **given: Any) -> Method:
    """A control, drawn and fitted as often as others are."""
    name = name or CONTROLS[of]
    return Method(name, name, GREY, MARKERS[0], control_of=of, **{"tries": tries, "refitted": True, **given})


CONTROL_METHODS = (
    _control("beyond-knn", lambda run: run.options.nearest(run.seed)),
    _control("beyond-proximal", lambda run: run.options.proximal(_lam(run), run.seed)),
    _control("beyond-kernel", lambda run: run.options.of_others(run.options.kernel(_lam(run)), "models")),
    _control("beyond-bilinear", lambda run: run.options.of_others(run.options.bilinear())),
    _control("beyond-trees-queries", lambda run: run.options.of_others(run.options.trees_with_vectors())),
    _control(
        "beyond-evidence",
        lambda run: run.options.with_prior(run.options.linear()),
        refitted=False,  # it draws nothing
        shown=_without_near,
    ),
    _control("beyond-trees-evidence", lambda run: run.options.with_prior(run.options.trees()), shown=_without_near),
    _control(GATED, lambda run: run.options.of_others(_gated(run)), OTHER_GATE),
    _control(CHOSEN, None, OF_CHOSEN, same_as=lambda run: CONTROLS[run.same[CHOSEN]]),
)
#: Methods, first stages and controls by name, in the order of figures and tables.
BY_NAME = {method.name: method for method in (*METHODS, *FIRST_STAGE_METHODS, *CONTROL_METHODS)}


def run(_: Any) -> list[str]:
    """Methods to run: all of them."""
    return [method.name for method in METHODS]


TEXT_MIX, RECOMMENDED, ENCODER = "text-mix", "beyond-recommended", "text-dense"
#: What a mix of text is made of, the encoder where texts are encoded.
TEXT_PARTS = ("text-bm25", "text-rm3", "text-lsa", ENCODER)

#: Methods with their labels; the last seven are mixes, two of them for comparison where the others have an encoder.
RETRIEVERS = {
    "text-bm25": "BM25, tuned",
    "text-rm3": "RM3",
    "text-lsa": "LSA",
    ENCODER: "encoder",
    "past-bm25": "BM25 over documents expanded with past queries",
    "past-rm3": "RM3 over them",
    "nearest": "judgments of similar queries alone",
    "ridge": "ridge from words to judgments",
    "prior": "judgments of all queries alone (prior)",
    TEXT_MIX: "text: BM25 + RM3 + LSA",
    "words-mix": "text without the encoder",
    "words-past-mix": "text without the encoder + expansion",
    "prior-mix": "text + prior",
    "nearest-mix": "text + judgments of similar queries",
    RECOMMENDED: "text + expansion (recommended)",
    "all-mix": "text + expansion + judgments of similar queries",
}
#: The main mixes without the encoder, where texts are encoded.
WITHOUT_ENCODER = ("words-mix", "words-past-mix")
#: What the main mixes are called where texts are encoded.
WITH_ENCODER = {TEXT_MIX: "text + dense", RECOMMENDED: "text + dense + expansion (recommended)"}
#: Learners that rank the best 100 documents of a mix again, by the scores of all retrievers; exploratory.
LEARNED = {
    "learned-text": "LambdaMART on the columns of text",
    "learned-past": "LambdaMART on text and expansion",
    "learned-linear": "Ranking SVM on text, expansion and judgments",
    "learned-all": "LambdaMART on text, expansion and judgments",
    "learned-monotone": "the same, never falling with judgments",
}
#: Controls of the mixes, with the mix that each is the control of.
MIX_CONTROLS = {
    "permuted": ("text + expansion, owners of the judgments permuted", RECOMMENDED),
    "another": ("text + judgments of queries similar to another query", "nearest-mix"),
    "closed": ("text, documents of other queries pushed down", TEXT_MIX),
}
#: Mixes that are also tried with near-duplicates of a query hidden from it.
WITHOUT_NEAR = ("nearest-mix", RECOMMENDED)
#: Forms of the judgments, in words.
FORMS = {
    "all": "all judgments",
    "grade-2": "grades from 2 on",
    "highest": "the highest grade alone",
    "no-hubs": "judgments without documents that are relevant to more than a tenth of the queries",
}
#: Forms in which the random controls, and the learners, are run.
CONTROLLED, LEARNING = ("all",), ("all", "highest")
#: The tenth above which a document is a hub.
HUB = 0.1
#: A run of 1,000 documents is cut at each of these budgets.
BUDGETS = (100, 200, 500, 1000)
NDCG = "ndcg@10/letor4"
RETRIEVAL_MEASURES = (*(f"ap@{n}" for n in BUDGETS), NDCG, *(f"r@{n}" for n in BUDGETS))


def without_near(method: str, near: float) -> str:
    """A method as tables and claims name it where near-duplicate queries are left out."""
    return f"{method}, queries below {near:g}"


def in_form(method: str, form: str) -> str:
    """A method as claims name it in another form of the judgments."""
    return f"{method}, {FORMS[form]}"
