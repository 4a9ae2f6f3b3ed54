"""When does query-dependent ranking help? What would count as success and as failure, written before the numbers.

The primary comparison of a data set sets the query-dependent ranker that validation chooses against Single and against
LambdaMART. We say that query-dependence helps only if the chosen ranker also beats its control, which knows nothing of
the query. All other comparisons are exploratory and are corrected together.

On raw text a second primary comparison sets documents expanded with past queries, mixed with text, against the best mix
of text alone, both retrieved from the whole collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration

#: The smallest difference in MAP that counts.
MARGIN = 0.005
#: Largest difference allowed between weights that are equal by definition.
_ROUNDING = 1e-9

PRIMARY, EXPLORATORY = "primary", "exploratory"
#: Families of the claims about retrieval with past queries, which were declared later and are corrected by themselves.
PAST, PAST_EXPLORATORY = "past queries", "past queries, exploratory"
#: Learners on the retrievers' columns were declared later still.
LEARNED = "past queries, learned"
_beats = partial(
    Claim, kind="superiority", margin=MARGIN, unit="MAP", measure="ap", expected="difference above 0", family=PRIMARY
)
_explores = partial(_beats, purpose=CONTROL, family=EXPLORATORY)
_retrieves = partial(_beats, family=PAST)
_controls = partial(_beats, purpose=CONTROL, family=PAST_EXPLORATORY)
_learns = partial(_beats, purpose=CONTROL, family=LEARNED)


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    each = f"every ranker chooses among {len(options['lambdas'])} settings on validation"
    claims = (
        *_primary(each),
        *_evidence(each, options),
        *_weights(each),
        *_retrieval(options),
        *_learned(),
        *_checks(),
    )
    return Declaration(study="beyond", paper="query-dependence", claims=claims)


def _primary(each: str) -> Iterator[Claim]:
    yield _beats(
        name="gain",
        text="the query-dependent ranker that validation chooses beats Single and LambdaMART",
        expected="above both",
        budget=f"{each}; the chosen ranker is one of eight, chosen on the same queries",
        note="the primary comparison",
    )
    yield _beats(
        name="control",
        text="the chosen ranker beats its own control, which knows nothing of the query",
        budget=f"{each}, controls included; a control has the same settings to choose from as its ranker",
        note="query-dependence helps only if this and the primary comparison hold",
    )


def _evidence(each: str, options: Mapping[str, Any]) -> Iterator[Claim]:
    yield _explores(
        name="evidence - prior",
        text="judgments of similar queries say more than judgments of all queries (the document's prior)",
        expected="above the prior, with Single and with LambdaMART",
        budget=each,
    )
    near = ", ".join(f"{value:g}" for value in options["near"])
    yield _explores(
        name="evidence - prior, no near-duplicates",
        text="they still do when near-duplicate queries are left out",
        expected=f"above the prior for every threshold of similarity ({near})",
        budget="settings are those chosen with all queries",
        note="near-duplicates are left out of the prior as well",
    )


def _weights(each: str) -> Iterator[Claim]:
    yield _explores(
        name="local weights",
        text="weights that depend on the query do not beat Single",
        expected="no gain of nearest queries, of proximal and kernel models, and of the bilinear one",
        kind="no superiority",
        budget=each,
    )
    yield _explores(
        name="neighbours - random",
        text="near queries are better to learn from than random ones",
        expected="above the same ranker with random neighbours or vectors of other queries",
        budget=each,
    )
    yield _explores(
        name="vectors - others",
        text="the query's own vector helps the bilinear ranker and LambdaMART",
        expected="above the same ranker with the vectors of other queries",
        budget=each,
    )
    yield _explores(
        name="gate",
        text="a gate helps a mixture",
        expected="above the fixed mixture, and above a gate that sees the vectors of other queries",
        budget=each,
    )


def _retrieval(options: Mapping[str, Any]) -> Iterator[Claim]:
    each = f"settings are chosen on {options['chosen_on']} past queries at most, each without itself"
    words = "documents expanded with past queries, mixed with text, beat the best mix of text alone"
    yield _retrieves(name="expansion", text=words, budget=each, note="the primary comparison of retrieval")
    yield _retrieves(
        name="expansion, NDCG@10", text=f"{words}, by NDCG@10", unit="NDCG@10", measure="ndcg@10/letor4", budget=each
    )
    yield _retrieves(
        name="expansion, highest grade",
        text=f"{words}, where only the highest grade is relevant",
        budget=each,
        note="on NFCorpus these are direct links; other grades there are inherited from other queries",
    )
    yield _controls(
        name="expansion - permuted",
        text="it matters which past query a document answered",
        expected="above the same mix with the judgments of past queries given to other past queries",
        budget=f"{each}, the control's weights too",
    )
    yield _controls(
        name="expansion - prior",
        text="expansion says more than how often a document was relevant",
        expected="above text mixed with the prior, in two columns as well",
        budget=each,
    )
    near = ", ".join(f"{value:g}" for value in options["near"])
    yield _controls(
        name="expansion, no near-duplicates",
        text="expansion gains without near-duplicates of the query among the past queries",
        expected=f"above text alone for every threshold of similarity ({near})",
        budget="settings are those chosen with all past queries",
    )
    yield _controls(
        name="similar queries - another query",
        text="judgments of similar queries, mixed with text, say more than those of queries similar to another query",
        expected="above the same mix that is given another query",
        budget=f"{each}, the control's weights too",
    )
    yield _controls(
        name="similar queries on expansion",
        text="judgments of similar queries add to expansion",
        expected="above text mixed with expansion",
        budget=each,
    )
    yield _controls(
        name="closed collection",
        text="it does not help to push documents of other queries down",
        expected="no gain over text alone; a gain means that documents answer one query each",
        kind="no superiority",
        budget=each,
    )


def _learned() -> Iterator[Claim]:
    each = "a learner chooses among as many settings as there are lambdas, on a quarter of at most 500 past queries"
    yield _learns(
        name="learned",
        text="LambdaMART that ranks the best 100 documents again, never falling with judgments, beats the recommended mix",
        expected="above text mixed with expansion",
        budget=each,
    )
    yield _learns(
        name="learned from judgments",
        text="judgments of similar queries add to LambdaMART on text and expansion",
        expected="above the same trees without columns of judgments",
        budget=each,
    )
    yield _learns(
        name="learned, never judged",
        text="trees gain nothing by ranking documents higher because no past query has them",
        expected="no gain of trees whose scores may fall with judgments on those whose scores may not",
        kind="no superiority",
        budget=each,
        note="a gain means that the collection is closed: every document was gathered for some query",
    )


def _checks() -> Iterator[Claim]:
    yield Claim(
        name="leak",
        text="no judgment of a training query reaches the evidence of its own documents",
        expected="no difference when the query's own grades are permuted",
        kind="identical",
        purpose=CHECK,
        measure="largest difference of a column",
    )
    yield Claim(
        name="all neighbours",
        text="a local ranker with all training queries is Single",
        expected="the same weights",
        kind="identical",
        margin=_ROUNDING,
        purpose=CHECK,
        measure="largest difference of a weight",
    )
