"""What the study computes: one model of all queries, clusters and their models, scores, and what they are compared with."""

from __future__ import annotations

from typing import Any

from qdrank.measures import CONVENTIONS
from qdrank.studies.lin2011.methods import run as methods_run
from qdrank.studies.steps import Step, scores_and_rankers

_ROOM = "qdrank.studies.lin2011"
_JUDGED = {"judged": "judged.parquet"}
_SINGLES = {"singles": "{fold}/models/lin-singles.parquet"}
_SHARDS = {"clusters": "{fold}/lin/shards/{scatteritem}.parquet"}
_CHOICES = "{fold}/choices/lin-ranksvm.parquet"
#: Convention of the study's measures.
CONVENTION = "letor4"


def _units(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "ms": settings.lin.ms,
        "seeds": list(range(1, settings.refits + 1)),
        "base": settings.seed,
        "random": settings.lin.random,
        "starts": settings.training.starts,
    }


def _baselines(run: Any) -> Any:
    return run.baselines_of("lin")


STEPS = (
    Step(
        name="train_lin_single",
        says="The global Ranking SVM, its lambda chosen among as many as the methods have settings.",
        call=f"{_ROOM}.singles:write_singles",
        reads=_JUDGED,
        makes={"models": _SINGLES["singles"], "choices": _CHOICES},
        params=lambda run: {**run.training, "grid": run.settings.lin.grid(), "seed": run.settings.seed},
        memory=(800, 4.5),
        minutes=(30, 3),
        priority=11,  # the longest jobs wait for it
        together="always",
    ),
    Step(
        name="train_lin",
        says="One shard of the clusters of a fold and their models, for every number of clusters and lambda.",
        call=f"{_ROOM}.units:train_units",
        reads={**_JUDGED, **_SINGLES, "columns": "columns.parquet"},
        makes=_SHARDS,
        params=lambda run: {
            **run.training,
            "lambdas": run.settings.lin.lambdas,
            "readings": run.settings.lin.readings(),
            **_units(run),
        },
        memory=(700, 8.5),
        # for each MB of documents several times what has been measured
        minutes=lambda run: (60, 0.1 * run.settings.refits * len(run.settings.lin.lambdas) / run.shards),
        priority=10,
        shards="lin",
        least=6,
    ),
    Step(
        name="score_lin",
        says="Naive, SelectRanker, Transform, the oracles and the controls: settings chosen on validation, measured on test queries.",
        call=f"{_ROOM}.scoring:write_scores",
        reads={**_JUDGED, **_SINGLES, **_SHARDS, "columns": "columns.parquet", "choices": _CHOICES},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run.settings.lin)),
            "choices": "{fold}/choices/lin.parquet",
            **{name: f"{{fold}}/lin/{name}.parquet" for name in ("values", "ranked", "controls")},
            "summary": "{fold}/lin/clusters.parquet",
        },
        params=lambda run: {
            "scale": run.settings.training.scale,
            "grid": run.settings.lin.grid(),
            "readings": run.settings.lin.readings(),
            "measures": list(CONVENTIONS[CONVENTION]),
            "ranked": run.settings.lin.ranked,
            "starts": run.settings.training.starts,
            "seed": run.settings.seed,
        },
        memory=(700, 7.5),
        minutes=(60, 1),
    ),
    Step(
        name="measure_lin_baselines",
        says="Measures of the classic methods of the tables.",
        call="qdrank.evaluation.measuring:write_measures",
        reads={
            **_JUDGED,
            "scores": lambda files: files.scores(_baselines(files.run)),
            "refits": lambda files: files.refits(_baselines(files.run)),
        },
        makes={"measures": "lin/baselines.parquet"},
        params=lambda run: {"measures": list(CONVENTIONS[CONVENTION]), **run.measured(_baselines(run))},
        memory=(600, 2),
        minutes=(30, 0.05),
    ),
)
