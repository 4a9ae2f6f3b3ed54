"""What the study computes: weights of runs with their controls, and the papers' methods on the runs' scores."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from qdrank.studies import stored_kinds
from qdrank.studies.hybrid.methods import BORROWED, PAPERS
from qdrank.studies.hybrid.methods import run as methods_run
from qdrank.studies.steps import QUERY_FILES, Step, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.hybrid"
_READS = {**QUERY_FILES, "judged": "judged.parquet"}


def _methods(run: Any, papers: bool) -> list[str]:
    return [method for method in methods_run(run.settings.hybrid) if (method in PAPERS) == papers]


def _made(run: Any, names: Collection[str]) -> dict[str, str]:
    return {**scores_and_rankers(names), **further_fits(run.refitted(names))}


def _params(run: Any, papers: bool) -> dict[str, Any]:
    settings = run.settings
    return {
        "scale": settings.training.scale,
        "queries": run.query_options,
        "hybrid": {
            **settings.hybrid.solved(),
            "seed": settings.seed,
            "tol": settings.training.tol,
            "refits": settings.refits,
            "readings": settings.lin.readings(),
            "kinds": {kind: stored_kinds()[kind] for kind in BORROWED},
        },
        "methods": _methods(run, papers),
    }


STEPS = (
    Step(
        name="fit_hybrid",
        says="All methods and controls of a fold but the papers', tuned on validation, the oracles and the curves.",
        call=f"{_ROOM}.writing:write_fold",
        reads=_READS,
        makes=lambda run: {
            **_made(run, _methods(run, papers=False)),
            "choices": "{fold}/choices/hybrid.parquet",
            **{
                name: f"{{fold}}/hybrid/{name}.parquet"
                for name in ("controls", "checks", "weights", "learning", "oracle")
            },
        },
        params=lambda run: _params(run, papers=False),
        memory=(900, 15),
        minutes=(60, 2),
        priority=5,  # the papers' job of a fold waits for this one
    ),
    # A job of its own: five folds as ten jobs keep two cores busy to the end.
    Step(
        name="fit_hybrid_papers",
        says="The papers' methods on the runs' scores, in the norm of the tuned fixed weights, and their controls.",
        call=f"{_ROOM}.writing:write_papers",
        reads={**_READS, "fixed": "{fold}/served/hybrid-fixed.parquet"},
        makes=lambda run: {
            **_made(run, _methods(run, papers=True)),
            "choices": "{fold}/choices/hybrid-papers.parquet",
            "controls": "{fold}/hybrid/paper-controls.parquet",
        },
        params=lambda run: _params(run, papers=True),
        memory=(900, 15),
        minutes=(60, 2),
        priority=4,  # what is measured waits for it, and a figure does not
    ),
)
