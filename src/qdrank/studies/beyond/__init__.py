"""When does query-dependent ranking help? Rankers from plain to query-dependent, each beside a control that knows nothing of the query."""

from __future__ import annotations

from qdrank.studies.beyond.methods import METHODS, SINGLE, run
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.beyond"
_VALUES = {"measures": "beyond/measures.parquet", "controls": "{fold}/beyond/controls.parquet"}
_CURVES = {"curves": "{fold}/beyond/curve.parquet"}
_THINNED = {"thinned": "{fold}/beyond/thinned.parquet"}

STUDY = Study(
    name="beyond",
    short="beyond",
    paper="query-dependence",
    section=f"{_ROOM}.settings:Beyond",
    methods=METHODS,
    run=run,
    measures=("letor4",),
    idea="Let a ranker know more and more of the query, and compare each step with a control that knows nothing of it.",
    against=SINGLE,
    figures=(
        Output(
            f"{_ROOM}.ladder_figure:draw",
            {"beyond-ladder": "rankers from plain to query-dependent"},
            _VALUES,
            said="A study of this project: no paper is behind it. How much each ranker gains over Single.",
            claims=("gain", "local weights", "all neighbours"),
        ),
        Output(
            f"{_ROOM}.controls_figure:draw",
            {"beyond-controls": "rankers against their controls"},
            _VALUES,
            said="A gain that its control has as well does not come from the query.",
            claims=("control", "evidence*", "neighbours*", "vectors*", "gate", "leak"),
        ),
        Output(
            f"{_ROOM}.curve_figures:draw_recurrence",
            {"beyond-recurrence": "gain against recurrence"},
            _THINNED,
            said="Judgments of other queries can help only where documents recur.",
            claims=("recurrence",),
        ),
        Output(
            f"{_ROOM}.curve_figures:draw_learning",
            {"beyond-curves": "number of training queries"},
            _CURVES,
            said="Whether query-dependent rankers pay off with few training queries, or with many.",
            claims=("few queries",),
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
    ),
    evidence=Output(
        f"{_ROOM}.evidence:gather",
        {"beyond-claims": "claims"},
        {**_VALUES, **_CURVES, **_THINNED, "checks": "{fold}/beyond/checks.parquet"},
    ),
    claims=f"{_ROOM}.claims:declare",
    budget=("beyond.lambdas", "beyond.near"),
    kinds=("letor", "text", "simulated"),
)
