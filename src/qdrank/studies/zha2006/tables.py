"""Tables 2 to 7 of Zha 2006, the L1 result and the controls.

Tables 2 to 4 are the grid of penalties and the maps it gives, Tables 5 to 7 which queries gain at the paper's penalties, on
training and on test queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.pairs import Pairs
from qdrank.evaluation.refits import table_ends
from qdrank.evaluation.significance import holm, wilcoxon
from qdrank.figures.tables import chosen_by_fold
from qdrank.layout import FloatArray
from qdrank.rankers.stages import FIRST_STAGES
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.methods import FITTED_KINDS, PAIRWISE, REGRESSORS, method_name
from qdrank.studies.zha2006.options import Cell
from qdrank.studies.zha2006.reading import (
    Values,
    chosen_rows,
    deviation,
    differences,
    fits_of,
    mean_of_fits,
    pairs,
    regressors,
    values,
)
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE

#: The grid's table of each regressor: the paper has one for each of its two data sets.
_GRIDS = {"zha-table2": "trees", "zha-table3": "ridge"}


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables of the grid, of L1 and of the controls, by id."""
    cells, maps = inputs.table("cells", CELLS_SHAPE), inputs.table("maps", MAPS_SHAPE)
    choices = inputs.tables("choices", "choices")
    stages = first_stages(inputs.table("measures", "measures"), choices[0].column("measure")[0].as_py())
    return {
        **{table: grid_table(cells, h) for table, h in _GRIDS.items()},
        "zha-table4": maps_table(maps),
        "zha-l1": l1_table(cells, maps),
        "zha-controls": controls_table(cells, choices, shown.interval, stages),
    }


def gained(one: Values, plain: Values) -> dict[str, float]:
    """DCG without and with aTVT, the gain in percent, and Wilcoxon's p: what the paper reports for a cell."""
    before, after = float(plain.value.mean()), float(one.value.mean())
    percent = 100 * (after / before - 1) if before else float("nan")
    p = wilcoxon(pairs(one, plain)).p
    return {"DCG without": before, "DCG with": after, "gain in %": percent, "p (Wilcoxon)": p}


def grid_cells(table: pa.Table, h: str) -> list[Cell]:
    """Cells of the grid of a regressor, ascending."""
    rows = chosen_rows(table, h=h, kind="grid")
    return sorted(set(zip(rows.column("lam_alpha").to_pylist(), rows.column("lam_beta").to_pylist(), strict=True)))


def grid_table(cells: pa.Table, h: str) -> pa.Table:
    """Tables 2 and 3: every cell of the grid against plain regression, corrected for the grid; then the two limits."""
    if h not in regressors(cells):
        return pa.table({"note": [f"{REGRESSORS[h]} is not among zha.regressors"]})
    plain = values(cells, h, "plain")
    gains = {cell: gained(values(cells, h, "grid", cell), plain) for cell in grid_cells(cells, h)}
    corrected = holm({str(cell): one["p (Wilcoxon)"] for cell, one in gains.items()}, family="the grid").adjusted
    rows = [_cell_row(cell, one, corrected[str(cell)], len(plain.value)) for cell, one in gains.items()]
    for kind in ("weak", "limit"):
        of_kind = chosen_rows(cells, h=h, kind=kind)
        cell = of_kind.column("lam_alpha")[0].as_py(), of_kind.column("lam_beta")[0].as_py()
        rows.append(_cell_row(cell, gained(values(cells, h, kind), plain), None, len(plain.value)))
    return pa.Table.from_pylist(rows)


def _cell_row(cell: Cell, gain: Mapping[str, float], corrected: float | None, n: int) -> dict[str, Any]:
    texts = {"lam_alpha": f"{cell[0]:g}", "lam_beta": f"{cell[1]:g}"}
    return {**texts, "queries": n, **gain, "p (Holm, grid)": corrected}


def maps_table(maps: pa.Table) -> pa.Table:
    """Table 4: mean and variance of alpha and beta of the training queries, one row per cell."""
    rows = []
    for h in regressors(maps):
        for cell in grid_cells(maps, h):
            queries = chosen_rows(maps, cell, h=h, kind="grid", role="train")
            rows.append(
                {"h": REGRESSORS[h], "lam_alpha": f"{cell[0]:g}", "lam_beta": f"{cell[1]:g}", **spread(queries)}
            )
    return pa.Table.from_pylist(rows)


def spread(queries: pa.Table) -> dict[str, float]:
    """Mean and variance of the maps in these rows."""
    alpha, beta = queries.column("alpha").to_numpy(), queries.column("beta").to_numpy()
    moments = {"mean alpha": alpha.mean(), "variance of alpha": alpha.var()}
    return {k: float(v) for k, v in (moments | {"mean beta": beta.mean(), "variance of beta": beta.var()}).items()}


def l1_table(cells: pa.Table, maps: pa.Table) -> pa.Table:
    """The L1 result: chosen on validation beside L2, and the paper's setting (K = 1, raw 100 and 0.2)."""
    texts = {"atvt": "L2, chosen", "l1": "L1, chosen", "paper-l1": "L1, the paper's: K = 1, raw 100 and 0.2"}
    rows = []
    for h in regressors(cells):
        plain = mean_of_fits(fits_of(cells, h, "plain"))
        for kind, text in texts.items():
            queries = chosen_rows(maps, h=h, kind=kind, role="train")
            gain = gained(mean_of_fits(fits_of(cells, h, kind)), plain)
            rows.append({"h": REGRESSORS[h], "penalties": text, **gain, **spread(queries)})
    return pa.Table.from_pylist(rows)


# ---- controls ----------------------------------------------------------------------------------------------------


def first_stages(measures: pa.Table, measure: str) -> dict[str, Values]:
    """The study's DCG of the first stages by label, at the depth of their runs; none if it was not measured for them."""
    measured = set(measures.column("method").to_pylist()) if measure in measures.column_names else set()
    stages = {}
    for name in (name for name in FIRST_STAGES if name in measured):
        rows = measures.filter(pc.equal(measures.column("method"), name))
        rows = rows.sort_by([("fold", "ascending"), ("query_id", "ascending")])
        fold, query = (rows.column(column).to_numpy(zero_copy_only=False) for column in ("fold", "query_id"))
        stages[FIRST_STAGES[name]] = Values(fold, query, rows.column(measure).to_numpy())
    return stages


def controls_table(
    cells: pa.Table,
    choices: Sequence[pa.Table],
    interval: Mapping[str, Any],
    stages: Mapping[str, Values] | None = None,
) -> pa.Table:
    """Every method and first stage against plain regression with the same h, and how much plain trees vary by chance."""
    settings = chosen_by_fold(choices)
    rows = []
    for h in regressors(cells):
        for kind, row in control_rows(cells, h, interval, stages or {}).items():
            chosen = "; ".join(settings.get(method_name(h, kind), []))
            rows.append({"h": REGRESSORS[h], **row, "settings by fold": chosen})
    return pa.Table.from_pylist(rows, _CONTROLS)


def control_rows(
    cells: pa.Table, h: str, interval: Mapping[str, Any], stages: Mapping[str, Values]
) -> dict[str, dict[str, Any]]:
    """Rows of one regressor by kind; p-values are corrected for all comparisons of methods with it."""
    plain, refits = fits_of(cells, h, "plain"), refit_means(cells, h)
    base = float(plain[0].value.mean()) or 1.0
    deviation = 100 * float(refits.std(ddof=1)) / base if len(refits) > 1 else None
    against = {
        kind: _against(fits_of(cells, h, kind), plain, base, interval) for kind in FITTED_KINDS if kind != "plain"
    }
    corrected = holm({kind: one["p (Wilcoxon)"] for kind, one in against.items()}, family=h).adjusted
    first = {"method": FITTED_KINDS["plain"][0], "DCG": float(mean_of_fits(plain).value.mean()), "fits": len(plain)}
    rows: dict[str, dict[str, Any]] = {"plain": first}
    for kind, one in against.items():
        row = {"method": FITTED_KINDS[kind][0] or PAIRWISE[h][1], **one, "p (Holm)": corrected[kind]}
        rows[kind] = row | {"gain over refit deviation": one["gain in %"] / deviation if deviation else None}
    if deviation is not None:
        text = f"{FITTED_KINDS['plain'][0]}, {len(refits)} refits to jittered targets"
        mean = float(refits.mean())
        row = {"method": text, "DCG": mean, "gain in %": 100 * (mean / base - 1)}
        rows["refits"] = row | {"refit deviation in %": deviation}
    return rows | {label: {"method": label} | _against([one], plain, base, interval) for label, one in stages.items()}


_NUMBERS = (
    "DCG",
    "gain in %",
    "low",
    "high",
    "spread of fits in %",
    "p (Wilcoxon)",
    "p (Holm)",
    "gain over refit deviation",
    "refit deviation in %",
)
_CONTROLS = pa.schema(
    [
        *((name, pa.string()) for name in ("h", "method")),
        *((name, pa.float64()) for name in _NUMBERS),
        ("fits", pa.int64()),
        ("settings by fold", pa.string()),
    ]
)


def refit_means(cells: pa.Table, h: str) -> FloatArray:
    """Mean DCG of each refit to jittered targets, (n_refits,)."""
    return np.array([one.value.mean() for one in fits_of(cells, h, "plain")[1:]])


def _against(
    one: Sequence[Values], plain: Sequence[Values], base: float, interval: Mapping[str, Any]
) -> dict[str, Any]:
    """Means over queries and fits, an interval of both, and a test of the means of the queries."""
    less, means = differences(one, plain) / base, [mean_of_fits(kind) for kind in (one, plain)]
    low, high = table_ends(less, **interval)
    row: dict[str, Any] = {"DCG": float(means[0].value.mean()), "gain in %": 100 * float(less.mean())}
    row |= {"low": 100 * low, "high": 100 * high, "p (Wilcoxon)": wilcoxon(pairs(*means)).p, "fits": len(one)}
    gains = less.mean(axis=0)
    return row | {"spread of fits in %": 100 * float(gains.std(ddof=1)) if len(gains) > 1 else None}


PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
#: Shares of the queries, most adjusted first, of table 7.
MOST_ADJUSTED = (10, 20, 30, 50, 75, 100)
_ROLES = ("test", "train")


def tabulate_queries(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables 5 to 7, by id."""
    maps = inputs.table("maps", MAPS_SHAPE)
    paper = shown.options["paper_alpha"], shown.options["paper_beta"]
    made: dict[str, Callable[[pa.Table], list[dict[str, Any]]]]
    made = {"zha-table5": percentile_rows, "zha-table6": interval_rows, "zha-table7": adjusted_rows}
    return {table: by_regressor(maps, paper, rows) for table, rows in made.items()}


def by_regressor(maps: pa.Table, paper: Cell, rows: Callable[[pa.Table], list[dict[str, Any]]]) -> pa.Table:
    """The rows of every regressor, of test and of training queries."""
    tabled = []
    for h in regressors(maps):
        for role in _ROLES:
            of_role = chosen_rows(maps, paper, h=h, kind="grid", role=role)
            tabled += [{"h": REGRESSORS[h], "queries of": role, **row} for row in rows(of_role)]
    return pa.Table.from_pylist(tabled)


def _columns(queries: pa.Table) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    alpha, beta, plain, value = (queries.column(name).to_numpy() for name in ("alpha", "beta", "plain", "value"))
    return alpha, beta, plain, np.round(value - plain, 12)


def _percent(gain: FloatArray, plain: FloatArray) -> float:
    """Gain of some queries in percent of their DCG without aTVT."""
    before = float(plain.sum())
    return 100 * float(gain.sum()) / before if before else float("nan")


def percentile_rows(queries: pa.Table) -> list[dict[str, Any]]:
    """Table 5: the gain at percentiles of the queries, sorted by gain; percent of the mean DCG without aTVT."""
    _, _, plain, gain = _columns(queries)
    base = float(plain.mean()) or 1.0
    at = np.percentile(gain, PERCENTILES)
    return [
        {"percentile": p, "gain": float(g), "gain in % of the mean": 100 * float(g) / base}
        for p, g in zip(PERCENTILES, at, strict=True)
    ]


def interval_rows(queries: pa.Table) -> list[dict[str, Any]]:
    """Table 6: mean alpha, beta and gain of tenths of the queries, sorted by gain; ties by query id."""
    alpha, beta, plain, gain = _columns(queries)
    order = np.argsort(gain, kind="stable")
    rows = []
    for i, chosen in enumerate(np.array_split(order, 10)):
        if len(chosen):
            row: dict[str, Any] = {"interval": f"{10 * i} to {10 * (i + 1)} %", "queries": len(chosen)}
            row |= {"mean alpha": float(alpha[chosen].mean()), "mean beta": float(beta[chosen].mean())}
            rows.append(
                row | {"mean gain": float(gain[chosen].mean()), "gain in %": _percent(gain[chosen], plain[chosen])}
            )
    return rows


def adjusted_rows(queries: pa.Table) -> list[dict[str, Any]]:
    """Table 7: gain of the most adjusted queries by ``|alpha^0.1 - 1| + |beta / 10|``, with Wilcoxon's p.

    A query that several folds train on is there several times, not independently: there is no p then.
    """
    independent = len(set(queries.column("query_id").to_pylist())) == queries.num_rows
    alpha, beta, plain, gain = _columns(queries)
    key = deviation(alpha, beta)
    order = np.argsort(-key, kind="stable")
    rows: list[dict[str, Any]] = []
    for share in MOST_ADJUSTED:
        chosen = order[: max(1, round(len(order) * share / 100))]
        p = wilcoxon(Pairs(chosen, gain[chosen], np.zeros(len(chosen)))).p if independent else None
        row = {"most adjusted": f"{share} %", "queries": len(chosen), "deviation from": float(key[chosen].min())}
        row |= {"mean gain": float(gain[chosen].mean()), "gain in %": _percent(gain[chosen], plain[chosen])}
        rows.append(row | {"p (Wilcoxon)": p})
    asked = {row["most adjusted"]: row["p (Wilcoxon)"] for row in rows} if independent else {}
    corrected = holm(asked, family="table 7").adjusted if asked else {}
    return [row | {"p (Holm)": corrected.get(row["most adjusted"])} for row in rows]
