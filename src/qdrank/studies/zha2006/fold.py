"""A fold: every regressor with and without aTVT, what it is set against, the controls, and the data for the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.layout import FloatArray
from qdrank.rankers.documents import FeatureScale, fold_documents
from qdrank.store import write
from qdrank.studies.running import FoldRun, View
from qdrank.studies.zha2006.fits import LIMIT, Fit, Fitter, FoldData, fold_data, penalties, setting_of
from qdrank.studies.zha2006.methods import (
    FITTED_KINDS,
    KERNEL_METHODS,
    MAP_KINDS,
    METHODS,
    REFITTED,
    Cell,
    Options,
    cell_kinds,
    method_name,
    refit_kind,
)
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE

#: Rounds of the alternation that the figure of the objective shows.
SHOWN_ROUNDS = {"ridge": 20, "trees": 3}


def fold_run(fold: str, view: View, regressors: Sequence[str], options: Options, highest: int, **given: Any) -> FoldRun:
    """The methods of a fold, tuned and scored, with a `Fitter` for each regressor; ``given`` are fields of the run."""
    data = fold_data(view.parts, options, highest, given["seed"])
    fitters = {h: Fitter(data, h, options) for h in regressors}
    run = FoldRun(fold, {"": view}, fitters, measure=data.measure, refits=options.refits, **given)
    return run.run(method for method in (*METHODS, *KERNEL_METHODS) if method.models in fitters)


def write_fold(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    regressors: Sequence[str],
    zha: Mapping[str, Any],
    scale: FeatureScale,
    **given: Any,
) -> None:
    """Tune, score and write all methods of the ``regressors``, and the tables; ``zha`` are keys of its section."""
    judged = load_judged(files["judged"])
    view = View.of(fold_documents(judged, fold, scale))
    run = fold_run(fold, view, regressors, Options(**zha), int(judged.y.max()), **given)
    run.write(out)
    for name, shape, table in (
        ("cells", CELLS_SHAPE, cells_table),
        ("maps", MAPS_SHAPE, maps_table),
        ("objectives", OBJECTIVES_SHAPE, objectives_table),
    ):
        write(out[name], shape, pa.concat_tables([table(run, h) for h in regressors if h != "kernel"]))


def _shown(run: FoldRun, h: str) -> dict[str, list[Fit]]:
    """Fits by their kind in the tables of cells and maps; of what is compared also those to slightly noisy targets.

    Within a further fit all kinds see the same targets, so that differences are paired by fit.
    """
    fitter: Fitter = run.options[h]
    fits: dict[str, Any] = {kind: run.made[method_name(h, kind)] for kind in FITTED_KINDS if kind != "pairwise"}
    setting = setting_of(fits["plain"])
    fits |= {kind: fitter.fit(**setting, **given) for kind, given in fitter.given().items() if kind not in fits}
    shown = {kind: [fit] for kind, fit in fits.items()}
    shown["grid"] = [fitter.fit(**setting, norm="l2", **penalties(cell)) for cell in fitter.options.cells]
    if h == "trees":
        shown |= {
            refit_kind(kind, number): [fitter.refit(fits[kind].params, number)]
            for number in range(1, run.refits)
            for kind in REFITTED
        }
    return shown


def fit_rows(fold: str, h: str, kind: str, role: str, cell: Cell, query_id: Any, **columns: Any) -> pa.Table:
    """One row per query, labelled with the fit."""
    n = len(query_id)
    texts = {"fold": fold, "role": role, "h": h, "kind": kind}
    whole: dict[str, Any] = {name: pa.array([text] * n, pa.string()) for name, text in texts.items()}
    whole |= {"lam_alpha": np.full(n, cell[0]), "lam_beta": np.full(n, cell[1])}
    return pa.table(whole | {"query_id": pa.array(query_id, pa.string())} | columns)


def _cell(fit: Fit) -> Cell:
    return fit.params.get("lam_alpha", inf), fit.params.get("lam_beta", inf)


def cells_table(run: FoldRun, h: str) -> pa.Table:
    """Test values of every fit that is shown: grid, limits, the paper's L1, further fits; and of the learner of pairs or lists."""
    fitter, shown, ids = run.options[h], _shown(run, h), run.test.query_id

    def rows(kind: str, cell: Cell, value: FloatArray) -> pa.Table:
        return fit_rows(run.fold, h, kind, "test", cell, ids, value=value)

    tables = [
        rows(kind, _cell(fit), fitter.data.reported("test", fit.scores("test")))
        for kind in cell_kinds(run.refits)
        for fit in shown.get(kind, [])
    ]
    tables.append(rows("limit scores", LIMIT, _apart(fitter.data, shown["limit"][0], shown["plain"][0])))
    for number, scores in enumerate(run.scores[method_name(h, "pairwise")]):
        tables.append(rows(refit_kind("pairwise", number), LIMIT, fitter.data.reported("test", scores)))
    return pa.concat_tables(tables)


def _apart(data: FoldData, limit: Fit, plain: Fit) -> FloatArray:
    """Largest difference between the scores of the limit and of the plain regressor, (n_queries,)."""
    apart = np.abs(limit.scores("test") - plain.scores("test"))
    return np.asarray(np.maximum.reduceat(apart, data.parts["test"].judged.offsets[:-1]))


def maps_table(run: FoldRun, h: str) -> pa.Table:
    """Maps of training and test queries, with the DCG of the plain regressor and of aTVT; of further fits, test queries."""
    fitter, shown = run.options[h], _shown(run, h)
    (plain,) = shown["plain"]
    fits = [(kind, fit, plain, role) for kind in MAP_KINDS for fit in shown[kind] for role in ("train", "test")]
    for number in range(1, run.refits if h == "trees" else 1):
        fixed, of_number = (shown[refit_kind(kind, number)][0] for kind in ("fixed", "plain"))
        fits.append((refit_kind("fixed", number), fixed, of_number, "test"))
    return pa.concat_tables([_map_rows(run.fold, fitter, *one) for one in fits])


def _map_rows(fold: str, fitter: Fitter, kind: str, fit: Fit, plain: Fit, role: str) -> pa.Table:
    """Maps of a role's queries, and their values by the plain regressor and by the fit."""
    part = fitter.data.parts[role]
    alpha, beta = fitter.maps(fit, role)
    before, after = (fitter.data.reported(role, one.scores(role)) for one in (plain, fit))
    columns = {"alpha": alpha, "beta": beta, "plain": before, "value": after, "varied": part.varied}
    return fit_rows(fold, fitter.h, kind, role, _cell(fit), part.judged.query_id, **columns)


def objectives_table(run: FoldRun, h: str) -> pa.Table:
    """The objective after every half step at the paper's penalties: alternation, and Newton steps where h is linear."""
    fitter: Fitter = run.options[h]
    start, cell, rows = setting_of(run.made[method_name(h, "plain")]), penalties(fitter.options.paper), []
    for norm in ("l2", "l1"):
        runs = {"alternation": fitter.fit(**start, **cell, norm=norm, rounds=SHOWN_ROUNDS[h], tol=0.0)}
        if h == "ridge":
            runs["newton"] = fitter.fit(**start, **cell, norm=norm)
        for form, fit in runs.items():
            for step, value in enumerate(fit.learner.objectives_.tolist()):
                rows.append({"fold": run.fold, "h": h, "norm": norm, "form": form, "step": step, "value": value})
    return pa.Table.from_pylist(rows, schema=OBJECTIVES_SHAPE.schema({}))
