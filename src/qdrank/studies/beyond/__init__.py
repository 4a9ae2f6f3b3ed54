"""When does query-dependent ranking help? Rankers from plain to query-dependent, each with a query-blind control."""

from __future__ import annotations

from qdrank.studies.beyond.methods import METHODS, SINGLE, run
from qdrank.studies.beyond.retrieved import JOBS, jobs_of
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.beyond"
_VALUES = {"measures": "beyond/measures.parquet", "controls": "{fold}/beyond/controls.parquet"}
_RETRIEVED = {job: f"{{fold}}/beyond/retrieval/{job}.parquet" for job in JOBS}
_TRIED = {f"{job}-tried": f"{{fold}}/beyond/retrieval/{job}.choices.parquet" for job in jobs_of("all")}

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
    run=run,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_ladder",
            {"beyond-ladder": "rankers from plain to query-dependent"},
            _VALUES,
            said="The primary comparison: the last row against Single and LambdaMART.",
            claims=("gain", "local weights", "all neighbours"),
        ),
        Output(
            f"{_ROOM}.figures:draw_controls",
            {"beyond-controls": "rankers against their controls"},
            _VALUES,
            said="Query-dependence helps only where a ranker beats its control, which knows nothing of the query.",
            claims=("control", "evidence*", "neighbours - random", "vectors - others", "gate", "leak"),
        ),
        Output(
            f"{_ROOM}.retrieval_figure:draw",
            {"beyond-gains": "gains of retrieval with past queries"},
            {job: _RETRIEVED[job] for job in jobs_of("all")},
            said="Past queries help retrieval where a mix with them beats the mix of text, and its control does not.",
            claims=("expansion*", "similar queries*", "closed collection", "learned*"),
            searched_only=jobs_of("all"),
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
            {
                **_VALUES,
                "choices": "{fold}/choices/beyond.parquet",
                "recurrence": "{fold}/beyond/recurrence.parquet",
            },
        ),
        Output(
            f"{_ROOM}.retrieval_tables:tabulate",
            {
                "beyond-retrieval": "retrieval with past queries",
                "beyond-budgets": "retrieval by number of documents",
                "beyond-past": "controls of retrieval",
                "beyond-forms": "forms of the judgments",
            },
            {**_RETRIEVED, **_TRIED},
            searched_only=(*_RETRIEVED, *_TRIED),
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"beyond-claims": "claims"},
        {**_VALUES, **_RETRIEVED, "checks": "{fold}/beyond/checks.parquet"},
        searched_only=tuple(_RETRIEVED),
    ),
    claims=f"{_ROOM}.claims:declare",
    budget=("beyond.lambdas", "beyond.near", "beyond.copies", "beyond.weights", "beyond.chosen_on"),
    kinds=("letor", "text", "simulated"),
)
