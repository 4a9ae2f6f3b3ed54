"""What the study computes: weights of runs with their controls, and the papers' methods on the runs' scores."""

from __future__ import annotations

from typing import Any

from qdrank.studies import stored_kinds
from qdrank.studies.hybrid.methods import BORROWED
from qdrank.studies.hybrid.methods import run as methods_run
from qdrank.studies.steps import QUERY_FILES, Step, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.hybrid"


def _params(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "scale": settings.training.scale,
        "queries": run.query_options,
        "hybrid": {
            **settings.hybrid.solved(),
            "tol": settings.training.tol,
            "readings": settings.lin.readings(),
            "kinds": {kind: stored_kinds()[kind] for kind in BORROWED},
        },
        "methods": methods_run(settings.hybrid),
        "seed": settings.seed,
        "refits": settings.refits,
    }


STEPS = (
    Step(
        name="fit_hybrid",
        says="All methods and controls of a fold, tuned on validation, the oracles and the curves.",
        call=f"{_ROOM}.fold:write_fold",
        reads={**QUERY_FILES, "judged": "judged.parquet"},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run.settings.hybrid)),
            **further_fits(run.refitted(methods_run(run.settings.hybrid))),
            "choices": "{fold}/choices/hybrid.parquet",
            **{name: f"{{fold}}/hybrid/{name}.parquet" for name in ("values", "checks")},
        },
        params=_params,
        memory=(900, 15),
        minutes=(60, 4),
    ),
)
