"""Hoi and Jin 2008: supervised (SER) and semi-supervised (SSER) ensemble ranking."""

from __future__ import annotations

from qdrank.studies.hoi2008.methods import METHODS, run
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.hoi2008"
_MEASURES = {"measures": "hoi/measures.parquet"}
_SWEEPS = {"sweeps": "{fold}/hoi/sweep.parquet"}
_WEIGHTS = {"weights": "{fold}/hoi/weights.parquet"}
_SCORED = {**_SWEEPS, **_WEIGHTS, "columns": "columns.parquet"}  # of one job: the figures of them are one job, too
_CURVES = {"curves": "{fold}/hoi/curve.parquet"}

STUDY = Study(
    name="hoi2008",
    short="hoi",
    paper="Hoi and Jin 2008",
    idea="Learn weights of given rankers, and adapt them to the unlabelled documents of each query.",
    against="ser",
    section=f"{_ROOM}.settings:Hoi",
    methods=METHODS,
    run=run,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"hoi-fig1": "Figure 1: MAP"},
            _MEASURES,
            said="SSER has the best MAP on OHSUMED. Ranking SVM follows, then SER, then the other learners.",
            claims=(
                "sser - ser*",
                "best MAP*",
                "ranksvm*",
                "ser - weak*",
                "*constant*",
                "bounds*",
                "eta*",
                "structure*",
                "tuned*",
            ),
        ),
        Output(
            f"{_ROOM}.figures:draw_precision",
            {"hoi-fig2": "Figure 2: precision at 1 to 10"},
            _MEASURES,
            said="SSER has the best precision at ranks 1 and 2.",
            claims=("best at*", "ties"),
        ),
        Output(
            f"{_ROOM}.figures:draw_gammas",
            {"hoi-fig3": "Figure 3: gamma"},
            _SCORED,
            ("hoi.gamma",),
            said="MAP rises up to gamma = 0.5 or so, and falls beyond.",
            claims=("gamma*", "fixed*"),
        ),
        Output(
            f"{_ROOM}.figures:draw_weights",
            {"hoi-weights": "weights of the rankers"},
            _SCORED,
            ("hoi.gamma",),
            said="Not in the paper: which rankers the ensembles use.",
            claims=("no weight", "gap"),
        ),
        Output(
            f"{_ROOM}.figures:draw_sizes",
            {"hoi-curve": "number of training queries"},
            _CURVES,
            said="Not in the paper. Its motive is that unlabelled documents help most where labels are few.",
            claims=("few labels", "more with few"),
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "hoi-methods": "methods",
                "hoi-folds": "methods by fold",
                "hoi-tests": "tests of Figure 1",
                "hoi-solver": "certificates of the programs",
            },
            {**_MEASURES, **_WEIGHTS, "choices": "{fold}/choices/hoi.parquet"},
            titles={"hoi-folds": "MAP by fold", "hoi-tests": "SER and SSER against the others, MAP"},
        ),
        Output(
            f"{_ROOM}.timing:tabulate",
            {"hoi-table3": "Table 3: training time"},
            {"judged": "judged.parquet"},
            ("hoi.scale",),
            titles={"hoi-table3": "training time in seconds, one thread"},
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"hoi-claims": "claims"},
        {**_MEASURES, **_SWEEPS, **_WEIGHTS, **_CURVES},
        ("hoi.gamma",),
    ),
    claims=f"{_ROOM}.claims:declare",
    rankers={"ensemble": f"{_ROOM}.rankers:EnsembleRanker", "stacked": f"{_ROOM}.rankers:StackedRanker"},
    budget=("hoi.gammas", "hoi.tried_C", "hoi.tried_theta", "hoi.tried_delta"),
    timed=("hoi-table3",),
    kinds=("letor", "text", "simulated"),
)
