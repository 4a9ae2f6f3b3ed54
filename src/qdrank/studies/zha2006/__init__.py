"""Zha 2006: regression that learns an affine map of each training query's targets (aTVT)."""

from __future__ import annotations

from qdrank.studies.study import Output, Study
from qdrank.studies.zha2006.methods import METHODS, run

_ROOM = "qdrank.studies.zha2006"
_CELLS = {"cells": "{fold}/zha/cells.parquet"}
_MAPS = {"maps": "{fold}/zha/maps.parquet"}
_FITTED = {**_MAPS, "objectives": "{first}/zha/objectives.parquet"}  # of one job: the figures of both are one job, too
_PAPER = ("zha.paper_alpha", "zha.paper_beta")

STUDY = Study(
    name="zha2006",
    short="zha",
    paper="Zha 2006",
    idea="Let each training query have a zero and a unit of its own for its target values, and learn them with the regressor.",
    against="zha-ridge-plain",
    section=f"{_ROOM}.settings:Zha",
    methods=METHODS,
    run=run,
    measures=("dcg@5/exp", "dcg@5/linear", "ndcg@5/exp", "ap"),
    headline="zha-gain",
    figures=(
        Output(
            f"{_ROOM}.figures:draw_map",
            {"zha-map": "alpha and beta over queries"},
            _FITTED,
            _PAPER,
            said="The paper has a table (4): larger penalties bring alpha to 1 and beta to 0, and their variance to 0.",
            claims=("*weak", "*recovered*", "*limit"),
        ),
        Output(
            f"{_ROOM}.figures:draw_gain",
            {"zha-gain": "gain against deviation"},
            _FITTED,
            _PAPER,
            said="The paper has a table (7): the more a query is adjusted, the more it gains.",
            claims=("*: *",),
        ),
        Output(
            f"{_ROOM}.figures:draw_objective",
            {"zha-objective": "the objective by half steps"},
            _FITTED,
            said="The paper proves that the alternation converges. Each half step must lower the objective, with ridge.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "zha-table2": "Table 2: the grid, boosted trees",
                "zha-table3": "Table 3: the grid, ridge",
                "zha-table4": "Table 4: mean and variance of the maps",
                "zha-l1": "the L1 result",
                "zha-controls": "controls",
            },
            {**_CELLS, **_MAPS, "choices": "{fold}/choices/zha.parquet", "measures": "zha/measures.parquet"},
        ),
        Output(
            f"{_ROOM}.tables:tabulate_queries",
            {
                "zha-table5": "Table 5: gain at percentiles of queries",
                "zha-table6": "Table 6: alpha, beta and gain by interval",
                "zha-table7": "Table 7: queries sorted by deviation",
            },
            _MAPS,
            _PAPER,
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"zha-claims": "claims"},
        {**_CELLS, **_MAPS, "topics": "topics.parquet"},
        (*_PAPER, "zha.targets"),
    ),
    claims=f"{_ROOM}.claims:declare",
    budget=(
        "zha.lam_alpha",
        "zha.lam_beta",
        "zha.lam_h",
        "zha.trees",
        "zha.learning_rates",
        "zha.leaves",
        "zha.min_leaf",
    ),
    kinds=("letor", "text", "simulated"),
)
