"""When does query-dependent ranking help? What would count as success and as failure, written before the numbers.

The primary comparison of a data set sets the query-dependent ranker that validation chooses against Single and against
LambdaMART. We say that query-dependence helps only if the chosen ranker also beats its control, which knows nothing of
the query. All other comparisons are exploratory and are corrected together.

On raw text a second primary comparison sets documents expanded with past queries, mixed with text, against the best mix
of text alone, both retrieved from the whole collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from qdrank.evaluation.declared import CHECK, CONTROL, Claim, Declaration
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    FIXED,
    GATED,
    NDCG,
    OF_CHOSEN,
    OTHER_GATE,
    RECOMMENDED,
    SINGLE,
    TEXT_MIX,
    TREES,
    WITH_EVIDENCE,
    in_form,
    without_near,
)

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
_check = partial(Claim, purpose=CHECK, kind="identical")

_Pairs = dict[str, tuple[str, str]]
_LOCAL = ("beyond-knn", "beyond-proximal", "beyond-kernel", "beyond-bilinear")


def declare(options: Mapping[str, Any]) -> Declaration:
    """All claims; ``options`` are the keys of the configuration that decide the budgets of validation."""
    each = f"every ranker chooses among {len(options['lambdas'])} settings on validation"
    past = f"settings are chosen on {options['chosen_on']} past queries at most, each without itself"
    near = sorted(options["near"], reverse=True)
    claims = (*_primary(each), *_ladder(each, near), *_retrieval(past, near), *_learned(), *_checks())
    return Declaration("beyond", "query-dependence", claims)


def _over_controls(*names: str) -> _Pairs:
    return {BY_NAME[name].label: (name, CONTROLS[name]) for name in names}


def _below(thresholds: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in thresholds)


def _primary(each: str) -> Iterator[Claim]:
    yield _beats(
        "gain",
        "the query-dependent ranker that validation chooses beats Single and LambdaMART",
        {f"against {BY_NAME[other].label}": (CHOSEN, other) for other in (SINGLE, TREES)},
        expected="above both",
        budget=f"{each}; the chosen ranker is one of eight, chosen on the same queries",
        note="the primary comparison",
    )
    yield _beats(
        "control",
        "the chosen ranker beats its own control, which knows nothing of the query",
        (CHOSEN, OF_CHOSEN),
        budget=f"{each}, controls included; a control has the same settings to choose from as its ranker",
        note="query-dependence helps only if this and the primary comparison hold",
    )


def _ladder(each: str, near: Sequence[float]) -> Iterator[Claim]:
    explores = partial(_explores, budget=each)
    text = "judgments of similar queries say more than judgments of all queries (the document's prior)"
    above = "above the prior, with Single and with LambdaMART"
    yield explores("evidence - prior", text, _over_controls(*WITH_EVIDENCE), expected=above)
    yield _explores(
        "evidence - prior, no near-duplicates",
        "they still do when near-duplicate queries are left out",
        {
            f"{BY_NAME[name].label}, below {one:g}": (without_near(name, one), without_near(CONTROLS[name], one))
            for one in near
            for name in WITH_EVIDENCE
        },
        expected=f"above the prior for every threshold of similarity ({_below(near)})",
        budget="settings are those chosen with all queries",
        note="near-duplicates are left out of the prior as well",
    )
    text, none = "weights that depend on the query do not beat Single", "no superiority"
    of_local: _Pairs = {BY_NAME[name].label: (name, SINGLE) for name in _LOCAL}
    no_gain = "no gain of nearest queries, of proximal and kernel models, and of the bilinear one"
    yield explores("local weights", text, of_local, expected=no_gain, kind=none)
    text = "near queries are better to learn from than random ones"
    above = "above the same ranker with random neighbours or vectors of other queries"
    yield explores("neighbours - random", text, _over_controls(*_LOCAL[:3]), expected=above)
    text = "the query's own vector helps the bilinear ranker and LambdaMART"
    above = "above the same ranker with the vectors of other queries"
    yield explores("vectors - others", text, _over_controls("beyond-bilinear", "beyond-trees-queries"), expected=above)
    gates = {"against the fixed mixture": (GATED, FIXED), "against a gate with other vectors": (GATED, OTHER_GATE)}
    above = "above the fixed mixture, and above a gate that sees the vectors of other queries"
    yield explores("gate", "a gate helps a mixture", gates, expected=above)


def _retrieval(past: str, near: Sequence[float]) -> Iterator[Claim]:
    words = "documents expanded with past queries, mixed with text, beat the best mix of text alone"
    retrieves, controls = partial(_retrieves, budget=past), partial(_controls, budget=past)
    same_choice = partial(_controls, budget=f"{past}, the control's weights too")
    main = (RECOMMENDED, TEXT_MIX)
    yield retrieves("expansion", words, main, note="the primary comparison of retrieval")
    yield retrieves("expansion, NDCG@10", f"{words}, by NDCG@10", main, unit="NDCG@10", measure=NDCG)
    yield retrieves(
        "expansion, highest grade",
        f"{words}, where only the highest grade is relevant",
        (in_form(RECOMMENDED, "highest"), in_form(TEXT_MIX, "highest")),
        note="on NFCorpus these are direct links; other grades there are inherited from other queries",
    )
    text = "it matters which past query a document answered"
    above = "above the same mix with the judgments of past queries given to other past queries"
    yield same_choice("expansion - permuted", text, (RECOMMENDED, "permuted"), expected=above)
    text = "expansion says more than how often a document was relevant"
    above = "above text mixed with the prior, in two columns as well"
    yield controls("expansion - prior", text, (RECOMMENDED, "prior-mix"), expected=above)
    yield _controls(
        "expansion, no near-duplicates",
        "expansion gains without near-duplicates of the query among the past queries",
        {f"past queries below {one:g}": (without_near(RECOMMENDED, one), TEXT_MIX) for one in near},
        expected=f"above text alone for every threshold of similarity ({_below(near)})",
        budget="settings are those chosen with all past queries",
    )
    text = "judgments of similar queries, mixed with text, say more than those of queries similar to another query"
    above = "above the same mix that is given another query"
    yield same_choice("similar queries - another query", text, ("nearest-mix", "another"), expected=above)
    text, above = "judgments of similar queries add to expansion", "above text mixed with expansion"
    yield controls("similar queries on expansion", text, ("all-mix", RECOMMENDED), expected=above)
    text, none = "it does not help to push documents of other queries down", "no superiority"
    answer = "no gain over text alone; a gain means that documents answer one query each"
    yield controls("closed collection", text, ("closed", TEXT_MIX), expected=answer, kind=none)


def _learned() -> Iterator[Claim]:
    each = "a learner chooses among as many settings as there are lambdas, on a quarter of at most 500 past queries"
    learns = partial(_learns, budget=each)
    text = "LambdaMART that ranks the best 100 documents again, never falling with judgments, beats the recommended mix"
    yield learns("learned", text, ("learned-monotone", RECOMMENDED), expected="above text mixed with expansion")
    text = "judgments of similar queries add to LambdaMART on text and expansion"
    above = "above the same trees without columns of judgments"
    yield learns("learned from judgments", text, ("learned-monotone", "learned-past"), expected=above)
    yield learns(
        "learned, never judged",
        "trees gain nothing by ranking documents higher because no past query has them",
        ("learned-all", "learned-monotone"),
        expected="no gain of trees whose scores may fall with judgments on those whose scores may not",
        kind="no superiority",
        note="a gain means that the collection is closed: every document was gathered for some query",
    )


def _checks() -> Iterator[Claim]:
    text = "no judgment of a training query reaches the evidence of its own documents"
    none = "no difference when the query's own grades are permuted"
    yield _check("leak", text, expected=none, measure="largest difference of a column")
    text, weights = "a local ranker with all training queries is Single", "largest difference of a weight"
    yield _check("all neighbours", text, expected="the same weights", margin=_ROUNDING, measure=weights)
