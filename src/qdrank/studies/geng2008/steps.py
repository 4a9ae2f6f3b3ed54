"""What the study computes: global and local models, boosted trees, scores, the stability bound, variants and times."""

from __future__ import annotations

from typing import Any

from qdrank.studies.geng2008.methods import TREES, scored
from qdrank.studies.study import QUERY_FILES, Step, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.geng2008"
_JUDGED = {"judged": "judged.parquet"}
_QUERIES = {"queries": "{fold}/queries.parquet"}
_NEIGHBOURS = {**_JUDGED, **_QUERIES, "neighbours": "{fold}/neighbours.parquet"}
_OFFLINE = {"offline": "{fold}/geng/offline.parquet"}
_SHARD = "{fold}/models/local/{scatteritem}.parquet"


def _minutes_of_shard(run: Any) -> tuple[float, float]:
    """For each MB of documents and neighbour lists several times what has been measured."""
    geng = run.settings.geng
    return 60, 0.02 * (len(geng.ks) + len(geng.candidates) * len(geng.lambdas)) / run.shards


def _trees(run: Any) -> dict[str, Any]:
    training = run.settings.training
    grid = {**(run.settings.geng.trees or {}), "rounds": [training.trees], "patience": [20]}
    return {
        "learner": "lambdamart",
        "ranks": False,
        "scale": training.scale,
        "measure": training.measure,
        "grid": grid,
        "queries": lambda wildcards: run.vector_options(wildcards, TREES[wildcards.method]),
        "seed": run.settings.seed,
        "refits": run.settings.refits,
    }


STEPS = (
    Step(
        name="train_global",
        says="Models of all training queries and of each class of queries, for every lambda.",
        call=f"{_ROOM}.global_models:write_global",
        reads={**_JUDGED, **_QUERIES, "topics": "topics.parquet"},
        makes={"models": "{fold}/models/global.parquet", "classes": "{fold}/classes.parquet"},
        params=lambda run: {
            **run.training,
            "lambdas": sorted({*run.settings.training.lambdas, run.settings.geng.lam}, reverse=True),
            "starts": run.settings.training.starts,
            "seed": run.settings.seed,
        },
        memory=(650, 1.6),
        together="small",
    ),
    Step(
        name="train_local",
        says="One shard of the local models of a fold, through every k and lambda.",
        call=f"{_ROOM}.local_models:train_local",
        reads=_NEIGHBOURS,
        makes={"models": _SHARD},
        params=lambda run: {
            **run.training,
            "geng": run.settings.geng.trained(),
            "block": run.settings.training.block,
            "seed": run.settings.seed,
        },
        memory=(700, 2.7),
        minutes=_minutes_of_shard,
        priority=10,  # the longest chain first: models, scores, variants
        shards="local",
        least=3,
    ),
    Step(
        name="train_lambdamart",
        says="LambdaMART, with and without query vectors: tuned on validation, its model, its scores of the test documents.",
        call="qdrank.rankers.learning:learn_method",
        reads={**QUERY_FILES, **_JUDGED},
        makes=lambda run: {
            made: f"{{fold}}/{made}/{{method}}.parquet"
            for made in ("models", "choices", "scores", "served", *(["refits"] if run.settings.refits > 1 else []))
        },
        params=_trees,
        wildcards={"method": TREES},
        datasets=lambda run, names: names if run.settings.geng.trees is not None else [],
        memory=(1000, 2.5),
        minutes=(60, 1),
        threads=lambda run: run.tree_threads,
    ),
    Step(
        name="choose_offline",
        says="Which ready model serves each query, for every k: known from the neighbours, while the models are trained.",
        call=f"{_ROOM}.offline:choose_offline",
        reads=_NEIGHBOURS,
        makes=_OFFLINE,
        params=lambda run: {"geng": run.settings.geng.trained()},
        memory=(700, 0.9),
        minutes=(30, 0.2),
        priority=11,  # scores and the bound wait for it
        together="always",
    ),
    Step(
        name="score_geng",
        says="Scores of Single, QC, the KNN methods and their controls, and values along k.",
        call=f"{_ROOM}.fold:write_fold",
        reads={
            **QUERY_FILES,
            **_NEIGHBOURS,
            **_OFFLINE,
            "metric": "{fold}/metric.parquet",
            "whole": "{fold}/models/global.parquet",
            "shards": _SHARD,
        },
        makes=lambda run: {
            **scores_and_rankers(scored(run.settings.geng)),
            **further_fits(run.refitted(scored(run.settings.geng))),
            "local": "{fold}/models/local.parquet",
            "choices": "{fold}/choices/geng.parquet",
            "values": "{fold}/geng/values.parquet",
        },
        params=lambda run: {
            "scale": run.settings.training.scale,
            "measure": run.settings.training.measure,
            "queries": run.query_options,
            "geng": run.settings.geng.trained(),
            "metric": run.settings.neighbours.metric,
            "tol": run.settings.training.tol,
            "starts": run.settings.training.starts,
            "seed": run.settings.seed,
            "refits": run.settings.refits,
        },
        memory=(800, 1.4),
        minutes=(45, 0.2),
        priority=10,
    ),
    Step(
        name="check_bound",
        says="The bound of theorem 1 and the differences of loss that are observed, with models of the hinge loss.",
        call=f"{_ROOM}.stability:write_bound",
        reads={**_NEIGHBOURS, **_OFFLINE},
        makes={"bound": "{fold}/geng/bound.parquet"},
        params=lambda run: {
            **run.training,
            "geng": run.settings.geng.trained(),
            "queries": run.settings.geng.bound_queries,
            "pairs": run.settings.geng.bound_pairs,
            "seed": run.settings.seed,
        },
        memory=(800, 2),
        minutes=(60, 3),
        priority=11,  # as long as a shard of local models, and it can begin no later
        together="always",
    ),
    Step(
        name="compare_variants",
        says="Variants of KNN Online, most of them the paper's future work.",
        call=f"{_ROOM}.variants:write_variants",
        reads={
            **_JUDGED,
            **_QUERIES,
            "columns": "columns.parquet",
            "topics": "topics.parquet",
            "served": "{fold}/served/knn-online.parquet",
        },
        makes={"values": "{fold}/geng/variants.parquet"},
        params=lambda run: {
            **run.training,
            "block": run.settings.training.block,
            "vectors": run.query_options,
            "metric": run.settings.neighbours.metric,
            "clusters": run.settings.geng.clusters,
            "starts": run.settings.training.starts,
            "most": run.settings.geng.variant_queries,
            "seed": run.settings.seed,
        },
        memory=(800, 2.1),
        priority=5,
        together="small",
    ),
    Step(
        name="time_testing",
        says="Time of each step of testing; apart from its table, so that a new title does not take the time again.",
        call=f"{_ROOM}.timing:write_times",
        reads={**_JUDGED, "columns": "columns.parquet"},
        makes={"times": "geng/table1-times.parquet"},
        params=lambda run: {
            **run.training,
            "lam": run.settings.geng.lam,
            "fold": lambda wildcards: run.folds(wildcards)[0],
        },
        memory=(800, 1.3),
        minutes=(30, 0.5),
    ),
)
