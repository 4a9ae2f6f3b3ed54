"""What the study computes: its ensembles, the learning curve, and ensembles of methods."""

from __future__ import annotations

from typing import Any

from qdrank.rankers.methods import CLASSIC
from qdrank.studies.hoi2008.methods import STACKED_METHODS, ensembles, stacked
from qdrank.studies.steps import Step, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.hoi2008"
_JUDGED = {"judged": "judged.parquet"}


def _fold(run: Any) -> dict[str, Any]:
    hoi, settings = run.settings.hoi, run.settings
    return {"scale": hoi.scale, "measure": settings.learners.measure, "seed": settings.seed, "hoi": hoi.solved()}


STEPS = (
    Step(
        name="fit_hoi",
        says="SER, SSER and their controls on a fold, through every gamma, with settings chosen on validation.",
        call=f"{_ROOM}.fold:write_fold",
        reads=_JUDGED,
        makes=lambda run: {
            **scores_and_rankers(ensembles()),
            **further_fits(run.refitted(ensembles())),
            "weights": "{fold}/hoi/weights.parquet",
            "values": "{fold}/hoi/values.parquet",
            "choices": "{fold}/choices/hoi.parquet",
        },
        params=lambda run: _fold(run) | {"refits": run.settings.refits},
    ),
    Step(
        name="learn_hoi_curve",
        says="SER, SSER, Ranking SVM and ListNet on random subsets of the training queries.",
        call=f"{_ROOM}.learning_curve:write_curve",
        reads=_JUDGED,
        makes={"curve": "{fold}/hoi/curve.parquet"},
        params=lambda run: _fold(run) | {"sizes": run.settings.hoi.sizes, "repeats": run.settings.hoi.repeats},
        memory=(800, 5.5),
        minutes=(60, 2),
        together="always",
    ),
    Step(
        name="stack_hoi",
        says="Ensembles whose rankers are methods: SER, SSER and BordaCount, learned on the validation queries.",
        call=f"{_ROOM}.fold:write_stacked",
        reads=lambda run: {
            **_JUDGED,
            "rankers": [f"{{fold}}/served/{name}.parquet" for name in run.settings.hoi.methods],
        },
        makes=scores_and_rankers([method.name for method in STACKED_METHODS]),
        params=lambda run: {
            "scale": lambda wildcards: run.learner_scale(wildcards.dataset),
            "hoi": {**run.settings.hoi.solved(), "methods": run.settings.hoi.methods},
            "measure": run.settings.learners.measure,
            "seed": run.settings.seed,
            "looked_up": ["learner", *(CLASSIC[name].learner for name in run.settings.hoi.methods)],
        },
        datasets=lambda run, names: names if stacked(run.settings.hoi) else [],
        memory=(800, 5.5),
        minutes=(30, 0.2),
    ),
)
