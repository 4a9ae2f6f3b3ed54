"""One regressor on one fold: the grid, the chosen settings, the controls, and the data for the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.layout import FloatArray
from qdrank.learners.atvt.estimator import ATVT
from qdrank.store.schemas import shape_of
from qdrank.studies.zha2006.data import FoldData
from qdrank.studies.zha2006.fits import LIMIT, OFFSET_ALONE, Fit, Fitter, Params, setting_of
from qdrank.studies.zha2006.methods import (
    FITTED_KINDS,
    MAP_KINDS,
    REFITTED,
    cell_kinds,
    method_name,
    refit_kind,
)
from qdrank.studies.zha2006.options import Cell, Options
from qdrank.studies.zha2006.shapes import OBJECTIVES_SHAPE

#: The paper's L1 result: one round, raw penalties.
PAPERS_L1 = {"norm": "l1", "lam_alpha": 100.0, "lam_beta": 0.2, "rounds": 1, "penalties": "raw"}
#: Rounds of the alternation that the figure of the objective shows.
SHOWN_ROUNDS = {"ridge": 20, "trees": 3}


@dataclass(frozen=True)
class FoldResult:
    """Tables of one regressor and fold, by kind of method the test documents' scores of every fit and the first model."""

    cells: pa.Table
    maps: pa.Table
    objectives: pa.Table
    choices: pa.Table
    scores: Mapping[str, Sequence[FloatArray]]
    models: Mapping[str, ATVT]


@dataclass(frozen=True)
class Chosen:
    """The plain regressor that all are set against, fits by kind, all fits that were tried, and every cell of the grid."""

    plain: Fit
    fits: Mapping[str, Fit]
    tried: Mapping[str, Sequence[Fit]]
    grid: Mapping[Cell, Fit]

    @property
    def shown(self) -> dict[str, list[Fit]]:
        """Fits by their kind in the tables of cells and maps."""
        return {kind: [fit] for kind, fit in self.fits.items()} | {"grid": [*self.grid.values()]}


def run_fold(fold: str, data: FoldData, h: str, options: Options) -> FoldResult:
    """Fit what the study needs for the regressor ``h``, "ridge" or "trees", on a fold."""
    fitter = Fitter(data, h, options)
    best = chosen(fitter)
    again = refits(fitter, best) if h == "trees" else {}
    return FoldResult(
        cells=_cells_table(fold, fitter, best, again),
        maps=_maps_table(fold, fitter, best, again),
        objectives=_objectives_table(fold, fitter, best.plain),
        choices=_choices_table(fold, h, best, data.measure),
        scores={
            kind: [fit.scores("test"), *(one.scores("test") for (of, _), one in again.items() if of == kind)]
            for kind, fit in best.fits.items()
            if kind in FITTED_KINDS
        },
        models={kind: fit.model for kind, fit in best.fits.items()},
    )


def chosen(fitter: Fitter) -> Chosen:
    """Fits of every kind, chosen on validation or given."""
    plain, tried_plain = fitter.best_plain()
    setting = setting_of(plain)
    searched = {kind: fitter.search(setting, **options) for kind, options in _searches(fitter).items()}
    fits = {"plain": plain} | {kind: best for kind, (best, _) in searched.items()}
    fits |= {kind: fitter.fit(**setting, **given) for kind, given in _given(fitter.options).items()}
    tried = {"plain": tried_plain} | {kind: tried for kind, (_, tried) in searched.items()}
    grid = {cell: fitter.fit(**setting, norm="l2", **penalties(cell)) for cell in fitter.options.cells}
    return Chosen(plain, fits, tried, grid)


def _searches(fitter: Fitter) -> dict[str, dict[str, Any]]:
    """What `Fitter.search` tries, by kind."""
    options = fitter.options
    return {
        "atvt": {"cells": options.cells},
        "l1": {"cells": options.cross, "norm": "l1"},
        "scale": {"cells": [(a, inf) for a in options.scale_penalties]},
        "centred": {"cells": [OFFSET_ALONE], "settings": fitter.dense_settings()},
    }


def _given(options: Options) -> dict[str, Params]:
    """Parameters of the fits that are shown without a choice, by kind, beside the setting of the plain regressor."""
    paper = {"norm": "l2", **penalties(options.paper)}
    return {
        "fixed": paper,
        "unweighted": {**paper, "weighted": False},
        "weak": {"norm": "l2", **penalties((options.weak, options.weak))},
        "limit": {"norm": "l2", **penalties(LIMIT)},
        "paper-l1": PAPERS_L1,
    }


def penalties(cell: Cell) -> dict[str, float]:
    """A cell as parameters."""
    return {"lam_alpha": cell[0], "lam_beta": cell[1]}


# ---- jittered refits ---------------------------------------------------------------------------------------------


Refits = Mapping[tuple[str, int], Fit]
"""Further fits by kind and number."""


def refits(fitter: Fitter, best: Chosen) -> Refits:
    """Every compared method fitted again to slightly noisy targets.

    Within a fit all kinds see the same targets, so that differences are paired by fit.
    """
    return {
        (kind, number): fitter.refit(best.fits[kind].params, number)
        for number in range(1, fitter.options.refits)
        for kind in REFITTED
    }


# ---- tables ------------------------------------------------------------------------------------------------------


def fit_rows(fold: str, h: str, kind: str, role: str, cell: Cell, query_id: Any, **columns: Any) -> pa.Table:
    """One row per query, labelled with the fit."""
    n = len(query_id)
    texts = {"fold": fold, "role": role, "h": h, "kind": kind}
    whole: dict[str, Any] = {name: pa.array([text] * n, pa.string()) for name, text in texts.items()}
    whole |= {"lam_alpha": np.full(n, cell[0]), "lam_beta": np.full(n, cell[1])}
    return pa.table(whole | {"query_id": pa.array(query_id, pa.string())} | columns)


def _cell(fit: Fit) -> Cell:
    return fit.params.get("lam_alpha", inf), fit.params.get("lam_beta", inf)


def _cells_table(fold: str, fitter: Fitter, best: Chosen, again: Refits) -> pa.Table:
    """Test values of every fit that is shown: grid, limits, the paper's L1, jittered refits."""
    data, h = fitter.data, fitter.h
    ids = data.parts["test"].judged.query_id
    shown = best.shown | {refit_kind(kind, number): [fit] for (kind, number), fit in again.items()}
    tables = [
        fit_rows(fold, h, kind, "test", _cell(fit), ids, value=data.reported("test", fit.scores("test")))
        for kind in cell_kinds(fitter.options.refits)
        for fit in shown.get(kind, [])
    ]
    tables.append(fit_rows(fold, h, "limit scores", "test", LIMIT, ids, value=_apart(data, best)))
    return pa.concat_tables(tables)


def _apart(data: FoldData, best: Chosen) -> FloatArray:
    """Largest difference between the scores of the limit and of the plain regressor, (n_queries,)."""
    apart = np.abs(best.fits["limit"].scores("test") - best.plain.scores("test"))
    return np.asarray(np.maximum.reduceat(apart, data.parts["test"].judged.offsets[:-1]))


def _maps_table(fold: str, fitter: Fitter, best: Chosen, again: Refits) -> pa.Table:
    """Maps of training and test queries, with the DCG of the plain regressor and of aTVT; of further fits, test queries."""
    fits = [(kind, fit) for kind in MAP_KINDS for fit in best.shown.get(kind, [])]
    shown = [(kind, fit, best.plain, role) for kind, fit in fits for role in ("train", "test")]
    shown += [
        (refit_kind(kind, number), fit, fitter.refit(best.plain.params, number), "test")
        for (kind, number), fit in again.items()
        if kind == "fixed"
    ]
    return pa.concat_tables([_map_rows(fold, fitter, *one) for one in shown])


def _map_rows(fold: str, fitter: Fitter, kind: str, fit: Fit, plain: Fit, role: str) -> pa.Table:
    """Maps of a role's queries, and their values by the plain regressor and by the fit."""
    part = fitter.data.parts[role]
    alpha, beta = fitter.maps(fit, role)
    before, after = (fitter.data.reported(role, one.scores(role)) for one in (plain, fit))
    columns = {"alpha": alpha, "beta": beta, "plain": before, "value": after, "varied": part.varied}
    return fit_rows(fold, fitter.h, kind, role, _cell(fit), part.judged.query_id, **columns)


def _objectives_table(fold: str, fitter: Fitter, plain: Fit) -> pa.Table:
    """The objective after every half step at the paper's penalties: alternation, and Newton steps where h is linear."""
    start, cell = setting_of(plain), penalties(fitter.options.paper)
    rows = []
    for norm in ("l2", "l1"):
        runs = {"alternation": fitter.fit(**start, **cell, norm=norm, rounds=SHOWN_ROUNDS[fitter.h], tol=0.0)}
        if fitter.h == "ridge":
            runs["newton"] = fitter.fit(**start, **cell, norm=norm)
        for form, fit in runs.items():
            for step, value in enumerate(fit.model.objectives_.tolist()):
                rows.append({"fold": fold, "h": fitter.h, "norm": norm, "form": form, "step": step, "value": value})
    return pa.Table.from_pylist(rows, schema=OBJECTIVES_SHAPE.schema({}))


def _choices_table(fold: str, h: str, picked: Chosen, measure: str) -> pa.Table:
    """The artifact ``choices``: every setting of a method that was tried on validation, or the one that it has."""
    shared = {"fold": fold, "k": None, "lam": None, "measure": measure}
    rows = [
        shared
        | {"method": method_name(h, kind), "setting": fit.text, "value": fit.watched}
        | {"chosen": fit.params == best.params}
        for kind, best in picked.fits.items()
        if kind in FITTED_KINDS
        for fit in picked.tried.get(kind, [best])
    ]
    return pa.Table.from_pylist(rows, shape_of("choices").schema({}))
