"""Names of what is retrieved with past queries: methods, controls, forms of the judgments, measures."""

from __future__ import annotations

TEXT_MIX, RECOMMENDED = "text-mix", "beyond-recommended"

#: Methods with their labels; the last five are mixes.
RETRIEVERS = {
    "text-bm25": "BM25, tuned",
    "text-rm3": "RM3",
    "text-lsa": "LSA",
    "past-bm25": "BM25 over documents expanded with past queries",
    "past-rm3": "RM3 over them",
    "nearest": "judgments of similar queries alone",
    "ridge": "ridge from words to judgments",
    "prior": "judgments of all queries alone (prior)",
    TEXT_MIX: "text: BM25 + RM3 + LSA",
    "prior-mix": "text + prior",
    "nearest-mix": "text + judgments of similar queries",
    RECOMMENDED: "text + expansion (recommended)",
    "all-mix": "text + expansion + judgments of similar queries",
}
#: Learners that rank the best 100 documents of a mix again, by the scores of all retrievers; exploratory.
LEARNED = {
    "learned-text": "LambdaMART on the columns of text",
    "learned-past": "LambdaMART on text and expansion",
    "learned-linear": "Ranking SVM on text, expansion and judgments",
    "learned-all": "LambdaMART on text, expansion and judgments",
    "learned-monotone": "the same, never falling with judgments",
}
#: Controls of the mixes, with the mix that each is the control of.
CONTROLS = {
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
MEASURES = (*(f"ap@{n}" for n in BUDGETS), NDCG, *(f"r@{n}" for n in BUDGETS))


def in_form(method: str, form: str) -> str:
    """A method as claims name it in another form of the judgments."""
    return f"{method}, {FORMS[form]}"
