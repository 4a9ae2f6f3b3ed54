"""Geng 2008: Ranking SVM trained on a query's k nearest training queries."""

from __future__ import annotations

from qdrank.studies.geng2008.methods import METHODS, TREES, VARIANT_KINDS, neighbours_tried, run
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.geng2008"
_SWEEPS = {"sweeps": "{fold}/geng/sweep.parquet"}
_FIRST = {name: f"{{first}}/{name}.parquet" for name in ("queries", "neighbours", "classes")}
_DESCRIBED = {name: f"{{fold}}/{name}.parquet" for name in ("queries", "neighbours", "classes")}
_BOUNDS = {"bounds": "{fold}/geng/bound.parquet"}
_MEASURES = {"measures": "geng/measures.parquet"}

STUDY = Study(
    name="geng2008",
    short="geng",
    paper="Geng 2008",
    idea="Train a Ranking SVM for each query, on the k training queries nearest to it.",
    against="single",
    one_model="single",
    section=f"{_ROOM}.settings:Geng",
    methods=METHODS,
    run=run,
    measures=("geng", "ap", "ndcg@10/letor4"),
    headline="geng-fig7",
    figures=(
        Output(
            f"{_ROOM}.fig1:draw",
            {"geng-fig1": "Figure 1: query space"},
            _FIRST,
            said="Queries of one type lie near each other in the space of query features: the locality property.",
            claims=("locality",),
        ),
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"geng-fig7": "Figure 7: methods"},
            _MEASURES,
            said="All three KNN methods are above Single and QC at every rank, and hardly differ from each other.",
        ),
        Output(
            f"{_ROOM}.figures:draw_differences",
            {"geng-differences": "differences from Single"},
            _MEASURES,
            said="Not in the paper. The claims rest on these paired differences, not on the curves of Figure 7.",
            claims=("knn-* - *", "qc* - single"),
        ),
        Output(
            f"{_ROOM}.figures:draw_controls",
            {"geng-controls": "controls and baselines"},
            _MEASURES,
            said="Not in the paper: Single beside random neighbours, equal query weights and boosted trees.",
            claims=("lambdamart*", "single-equal*"),
        ),
        Output(
            f"{_ROOM}.figures:draw_neighbours",
            {"geng-fig8": "Figure 8: number of neighbours"},
            _SWEEPS,
            ("geng.lam",),
            said="NDCG rises with k, is flat from 300 to 800 of 1,500 training queries, and then falls.",
            claims=("curve *", "flat *", "k = m"),
        ),
        Output(
            f"{_ROOM}.figures:draw_ratios",
            {"geng-fig9": "Figure 9: change ratio"},
            _SWEEPS,
            ("geng.lam",),
            said="The change ratio is small and falls with k, and that of Offline-1 is below that of Offline-2.",
            claims=("gamma *",),
        ),
        Output(
            f"{_ROOM}.bound:draw",
            {"geng-bound": "Theorem 1: stability bound"},
            _BOUNDS,
            said="The paper proves the bound and does not measure it. Every point must lie below the diagonal.",
            claims=("bound",),
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "geng-methods": "methods",
                "geng-folds": "methods by fold",
                "geng-tests": "tests of Figure 7",
                "geng-qc": "classes for QC",
            },
            {
                **_MEASURES,
                "choices": "{fold}/choices/geng.parquet",
                **{tree: f"{{fold}}/choices/{tree}.parquet" for tree in TREES},
                "classes": "{fold}/classes.parquet",
            },
            titles={"geng-tests": "KNN against Single and QC, mean NDCG", "geng-qc": "classes for QC, test queries"},
        ),
        Output(
            f"{_ROOM}.tables:tabulate_times",
            {"geng-table1": "Table 1: time of testing"},
            {"times": "geng/table1-times.parquet"},
            titles={"geng-table1": "time of testing, one thread"},
        ),
        Output(
            f"{_ROOM}.tables:tabulate_variants",
            {"geng-variants": "variants of KNN Online"},
            {kind: f"{{fold}}/geng/variants/{kind}.parquet" for kind in VARIANT_KINDS},
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"geng-claims": "claims"},
        {**_MEASURES, **_SWEEPS, **_BOUNDS, **_DESCRIBED},
        ("geng.lam",),
    ),
    claims=f"{_ROOM}.claims:declare",
    budget=("geng.lam", "geng.candidates", "geng.lambdas", "geng.trees", "training.lambdas as global_lambdas"),
    neighbours=neighbours_tried,
    across=f"{_ROOM}.across:decide_across",
    timed=("geng-table1", "table1-times"),
    also=tuple(
        f"results/{{dataset}}/{{fold}}/{made}.parquet"
        for made in ("models/local", "models/global", *(f"models/{name}" for name in TREES), "geng/offline")
    ),
    rankers={
        "query-classes": f"{_ROOM}.class_ranker:ClassRanker",
        "query-columns": f"{_ROOM}.query_classes:QueryColumns",
        "online": f"{_ROOM}.online_ranker:OnlineRanker",
    },
    retune=f"{_ROOM}.rankers:retuned",
    served={"single": "single", "offline1": "knn-offline1", "offline2": "knn-offline2", "online": "knn-online"},
)
