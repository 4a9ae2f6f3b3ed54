"""What the study computes: each regressor with and without aTVT, what it is set against, and their tables."""

from __future__ import annotations

from typing import Any

from qdrank.learners.grids import GRIDS
from qdrank.studies.steps import Step, further_fits, scores_and_rankers
from qdrank.studies.zha2006.methods import PAIRWISE
from qdrank.studies.zha2006.methods import run as methods_run


def _params(run: Any) -> dict[str, Any]:
    settings, regressors = run.settings, run.settings.zha.regressors
    learners = [PAIRWISE[h][0] for h in regressors]
    return {
        "regressors": regressors,
        "zha": {
            **settings.zha.computed(),
            "refits": settings.refits,
            "usual": {name: GRIDS[name] for name in learners},
        },
        "scale": settings.training.scale,
        "seed": settings.seed,
        "looked_up": learners,
    }


STEPS = (
    Step(
        name="fit_zha",
        says="Ridge and boosted trees with and without aTVT on a fold, the controls, and RankSVM and LambdaMART beside them.",
        call="qdrank.studies.zha2006.fold:write_fold",
        reads={"judged": "judged.parquet"},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run.settings.zha)),
            **further_fits(run.refitted(methods_run(run.settings.zha))),
            **{name: f"{{fold}}/zha/{name}.parquet" for name in ("cells", "maps", "objectives")},
            "choices": "{fold}/choices/zha.parquet",
        },
        params=_params,
        memory=(750, 11.5),
        minutes=(60, 6),
        threads=lambda run: run.tree_threads if "trees" in run.settings.zha.regressors else 1,
        priority=5,
    ),
)
