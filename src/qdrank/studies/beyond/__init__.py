"""When does query-dependent ranking help? Rankers from plain to query-dependent, each with a query-blind control."""

from __future__ import annotations

from typing import Any

from qdrank.studies.beyond.methods import FORMS, METHODS, RETRIEVAL_MEASURES, SINGLE
from qdrank.studies.beyond.methods import run as methods_run
from qdrank.studies.study import QUERY_FILES, Output, Step, Study, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.beyond"


def _options(run: Any) -> dict[str, Any]:
    training = run.settings.training
    shared = {"rounds": training.trees, "tol": training.tol, "seed": run.settings.seed}
    return {**run.settings.beyond.solved(), **shared}


def _fitted(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "scale": settings.training.scale,
        "queries": run.query_options,
        "refits": settings.refits,
        "source": lambda wildcards: run.text_source(wildcards.dataset),
        "text": settings.text.model_dump(),
        "beyond": _options(run),
    }


def _retrieved(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "source": lambda wildcards: run.searched(wildcards.dataset),
        "text": lambda wildcards: run.searched_text(wildcards.dataset),
        "retrieval": settings.beyond.retrieval(),
        "beyond": _options(run),
        "refits": settings.refits,
        "measure": settings.learners.measure,
        "measures": list(RETRIEVAL_MEASURES),
    }


STEPS = (
    Step(
        name="fit_beyond",
        says="Rankers and controls of a fold, tuned on validation, with their scores of the test documents, and checks.",
        call=f"{_ROOM}.fold:fit_fold",
        reads={**QUERY_FILES, "judged": "judged.parquet", "collection": lambda files: files.collection_of_text},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run)),
            **further_fits(run.refitted(methods_run(run))),
            "choices": "{fold}/choices/beyond.parquet",
            **{name: f"{{fold}}/beyond/{name}.parquet" for name in ("values", "checks", "recurrence")},
        },
        params=_fitted,
        memory=(700, 14),
        minutes=(120, 3),
        threads=lambda run: run.tree_threads,
    ),
    Step(
        name="retrieve_beyond",
        says="Retrieval from a whole text collection with past queries, in one form of the judgments, with its controls and learners.",
        call=f"{_ROOM}.retrieval:write_retrieval",
        reads={"collection": lambda files: files.searched, "vectors": lambda files: files.vectors},
        makes={
            "values": "{fold}/beyond/retrieval/{form}.parquet",
            "choices": "{fold}/beyond/retrieval/{form}.choices.parquet",
        },
        params=_retrieved,
        wildcards={"form": list(FORMS)},
        datasets=lambda run, names: filter(run.is_searched, names),
        memory=(2500, 15),
        minutes=(60, 1),
        threads=lambda run: run.tree_threads,
        together="small",
    ),
)

_VALUES = {"measures": "beyond/measures.parquet", "values": "{fold}/beyond/values.parquet"}
_RETRIEVED = {form: f"{{fold}}/beyond/retrieval/{form}.parquet" for form in FORMS}
#: The forms that claims name.
_CLAIMED = {form: _RETRIEVED[form] for form in ("all", "highest")}
_TRIED = {"tried": "{fold}/beyond/retrieval/all.choices.parquet"}

STUDY = Study(
    name="beyond",
    short="beyond",
    paper="query-dependence",
    idea="Find what a ranker gains by knowing the query, beyond what the same ranker gains without that knowledge.",
    against=SINGLE,
    section=f"{_ROOM}.settings:Beyond",
    refuses={
        "text.judged": "judged documents become candidates, candidates make the similarity of queries, and so a query's "
        "evidence would see its own judgments"
    },
    methods=METHODS,
    run=methods_run,
    steps=STEPS,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_ladder",
            {"beyond-ladder": "rankers from plain to query-dependent"},
            _VALUES,
            said="The primary comparison: the last row against Single and LambdaMART.",
            claims=("gain", "local weights", "all neighbours"),
            caption="MAP of every ranker on the test queries (left), and its paired differences from Single and "
            "LambdaMART with bootstrap intervals (right). All choose among equally many settings on validation. The "
            "last row is the query-dependent ranker that validation chose in each fold; its comparison with Single "
            "and LambdaMART is the primary one. All others are exploratory, and a gain here does not show that the "
            "query matters: the controls do.",
        ),
        Output(
            f"{_ROOM}.figures:draw_controls",
            {"beyond-controls": "rankers against their controls"},
            _VALUES,
            said="Query-dependence helps only where a ranker beats its control, which knows nothing of the query.",
            claims=("control", "evidence*", "neighbours - random", "vectors - others", "gate", "leak"),
            caption="What each query-dependent ranker gains on its own control on the test queries (left). A control "
            "is the same ranker, tuned in the same way, without what it knows of the query: random neighbours, the "
            "vectors of other queries, the document's prior for the judgments of similar queries, fixed weights for a "
            "gate. Right: judgments of similar queries against the prior, near-duplicate queries left out of both.",
        ),
        Output(
            f"{_ROOM}.figures:draw_retrieval",
            {"beyond-gains": "gains of retrieval with past queries"},
            {"all": _RETRIEVED["all"]},
            said="Past queries help retrieval where a mix with them beats the mix of text, and its control does not.",
            claims=("expansion*", "similar queries*", "closed collection", "learned*"),
            searched_only=("all",),
            caption="What past queries add to retrieval: difference in MAP on the test queries from the best mix of "
            "BM25, RM3 and LSA, with intervals (left). Green: LambdaMART, which ranks the best 100 documents of the "
            "mix again. Grey: controls, with judgments of other past queries, the similar queries of another query, "
            "or the documents of other queries pushed down. Right: the same when past queries at least as similar as "
            "the axis says are hidden.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "beyond-methods": "rankers",
                "beyond-primary": "primary comparison",
                "beyond-tests": "exploratory comparisons",
                "beyond-documents": "recurrence of documents",
            },
            {**_VALUES, "choices": "{fold}/choices/beyond.parquet", "recurrence": "{fold}/beyond/recurrence.parquet"},
            caption={
                "beyond-methods": "All rankers on the test queries: MAP, NDCG and precision, differences in MAP from "
                "Single and LambdaMART with bootstrap intervals, and the settings that validation chose in each fold.",
                "beyond-primary": "The primary comparison, declared before the numbers: the query-dependent ranker "
                "that validation chose against Single, LambdaMART and its own control. P-values of the t test are "
                "corrected by Holm's method over the three; the smallest detectable difference would have been found "
                "with probability 0.8.",
                "beyond-tests": "Exploratory comparisons: every ranker against Single, LambdaMART and its control, "
                "and evidence against the prior without near-duplicate queries. P-values of the t test are corrected "
                "by Holm's method over the whole table; the smallest detectable difference would have been found with "
                "probability 0.8 at the corrected level, so a null can be read.",
                "beyond-documents": "How often documents of the test queries occur among those of the training "
                "queries, as shares of the test rows (query and document). Judgments of other queries can help only "
                "where documents recur.",
            },
        ),
        Output(
            f"{_ROOM}.tables:tabulate_retrieval",
            {
                "beyond-retrieval": "retrieval with past queries",
                "beyond-budgets": "retrieval by number of documents",
                "beyond-past": "controls of retrieval",
                "beyond-forms": "forms of the judgments",
            },
            {**_RETRIEVED, **_TRIED},
            searched_only=(*_RETRIEVED, *_TRIED),
            caption={
                "beyond-retrieval": "Retrieval from the whole collection, 1,000 documents deep: each method on the "
                "test queries, its difference from the best mix of text alone with bootstrap intervals, and the "
                "settings chosen on past queries, each asked without itself.",
                "beyond-budgets": "The same methods when a query may have 100, 200, 500 or 1,000 documents: MAP over "
                "all relevant documents, and recall.",
                "beyond-past": "Retrieval with past queries against its controls: judgments of other past queries, "
                "another query's evidence, the document's prior, near-duplicates hidden, documents of other queries "
                "pushed down. Random controls are means over several draws.",
                "beyond-forms": "The main comparisons in each form of the judgments, with the share of relevant "
                "documents that were relevant to a past query.",
            },
        ),
    ),
    observations=Output(
        f"{_ROOM}.tables:gather",
        {"beyond-claims": "claims"},
        {**_VALUES, **_CLAIMED, "checks": "{fold}/beyond/checks.parquet"},
        searched_only=tuple(_CLAIMED),
        caption="When query-dependent ranking helps: what was expected, when it holds and when it fails (written "
        "before the numbers), the measured effect with its interval, and the verdict. That query-dependence helps is "
        "said only where both findings hold: the chosen ranker beats Single and LambdaMART, and it beats its own "
        "control. All controls are exploratory and corrected together.",
    ),
    claims=f"{_ROOM}.claims:declare",
    main="control",
    budget=("beyond.lambdas", "beyond.near", "beyond.copies", "beyond.weights", "beyond.chosen_on"),
    kinds=("letor", "text", "simulated"),
)
