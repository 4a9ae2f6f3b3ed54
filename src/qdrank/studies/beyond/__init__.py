"""When does query-dependent ranking help? Rankers from plain to query-dependent, each beside a control that knows nothing of the query."""

from __future__ import annotations

from qdrank.studies.beyond.methods import METHODS, run
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
    figures=(
        Output(f"{_ROOM}.ladder_figure:draw", {"beyond-ladder": "rankers from plain to query-dependent"}, _VALUES),
        Output(f"{_ROOM}.controls_figure:draw", {"beyond-controls": "rankers against their controls"}, _VALUES),
        Output(f"{_ROOM}.curve_figures:draw_recurrence", {"beyond-recurrence": "gain against recurrence"}, _THINNED),
        Output(f"{_ROOM}.curve_figures:draw_learning", {"beyond-curves": "number of training queries"}, _CURVES),
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
