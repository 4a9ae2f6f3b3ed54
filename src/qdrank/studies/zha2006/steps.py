"""What the study computes: each regressor with and without aTVT, what it is set against, and their tables in one."""

from __future__ import annotations

from typing import Any

from qdrank.learners.grids import GRIDS
from qdrank.studies.steps import Step
from qdrank.studies.zha2006.methods import FITTED_KINDS, PAIRWISE, REGRESSORS, refitted_kinds

_ROOM = "qdrank.studies.zha2006"
_JUDGED = {"judged": "judged.parquet"}
_FITTED = [kind for kind in FITTED_KINDS if kind != "pairwise"]
_TABLES = ("cells", "maps", "objectives", "choices")


def _params(run: Any) -> dict[str, Any]:
    settings = run.settings
    zha = {**settings.zha.computed(), "refits": settings.refits}
    return {"scale": settings.training.scale, "zha": zha, "seed": settings.seed}


def _tables(h: str, names: tuple[str, ...], of: str = "") -> dict[str, str]:
    return {name: f"{{fold}}/zha/{h}/{of}{name}.parquet" for name in names}


def _methods(h: str, kinds: list[str], refits: int) -> dict[str, str]:
    """Scores, rankers, and scores of further fits."""
    of = dict.fromkeys(("scores", "served"), kinds) | {"refits": refitted_kinds(h, kinds, refits)}
    return {f"{made}_{kind}": f"{{fold}}/{made}/zha-{h}-{kind}.parquet" for made in of for kind in of[made]}


def _fit(h: str) -> Step:
    return Step(
        name=f"fit_zha_{h}",
        says=f"{REGRESSORS[h].capitalize()} with and without aTVT on a fold: the grid, the choice on validation, the controls.",
        call=f"{_ROOM}.regressor:fit_regressor",
        reads=_JUDGED,
        makes=lambda run: _tables(h, _TABLES) | _methods(h, _FITTED, run.settings.refits),
        params=lambda run: {"h": h, **_params(run)},
        passing=_TABLES,
        datasets=lambda run, names: names if h in run.settings.zha.regressors else [],
        memory=(750, 11.5),
        minutes=(60, 3),
        threads=lambda run: run.tree_threads if h == "trees" else 1,
        priority=5,
    )


def _pairwise(h: str) -> Step:
    learner, label = PAIRWISE[h]
    return Step(
        name=f"learn_pairwise_{h}",
        says=f"{label}, which {REGRESSORS[h]} is set against.",
        call=f"{_ROOM}.regressor:learn_pairwise",
        reads=_JUDGED,
        makes=lambda run: (
            _tables(h, ("cells", "choices"), "pairwise/") | _methods(h, ["pairwise"], run.settings.refits)
        ),
        params=lambda run: {"h": h, "grid": GRIDS[learner], "looked_up": [learner], **_params(run)},
        passing=_TABLES,
        datasets=lambda run, names: names if h in run.settings.zha.regressors else [],
        memory=(750, 11.5),
        minutes=(60, 3),
        threads=lambda run: run.tree_threads if h == "trees" else 1,
        together="small",
    )


def _gathered(run: Any) -> dict[str, list[str]]:
    regressors = run.settings.zha.regressors
    return {
        name: [
            path
            for h in regressors
            for of in ("", "pairwise/")
            for path in _tables(h, _TABLES[:1] + _TABLES[3:] if of else _TABLES, of).values()
            if path.endswith(f"/{name}.parquet")
        ]
        for name in _TABLES
    }


STEPS = (
    *(_fit(h) for h in REGRESSORS),
    *(_pairwise(h) for h in REGRESSORS),
    Step(
        name="gather_zha",
        says="Tables of all regressors of a fold, and of what they are set against, in one.",
        call=f"{_ROOM}.shapes:gather_tables",
        reads=_gathered,
        makes={**{name: f"{{fold}}/zha/{name}.parquet" for name in _TABLES}, "choices": "{fold}/choices/zha.parquet"},
        memory=(400, 3.5),
        minutes=(15, 0),
        together="always",
    ),
)
