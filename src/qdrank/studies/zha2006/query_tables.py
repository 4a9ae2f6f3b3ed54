"""Tables 5 to 7 of Zha 2006: which queries gain, at the paper's penalties, on training and on test queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.evaluation.pairs import Pairs
from qdrank.evaluation.significance import holm, wilcoxon
from qdrank.layout import FloatArray
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.methods import REGRESSORS
from qdrank.studies.zha2006.options import Cell
from qdrank.studies.zha2006.reading import chosen_rows, deviation, regressors
from qdrank.studies.zha2006.shapes import MAPS_SHAPE

PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
#: Shares of the queries, most adjusted first, of table 7.
MOST_ADJUSTED = (10, 20, 30, 50, 75, 100)
_ROLES = ("test", "train")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
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
    """Table 7: gain of the most adjusted queries by ``|alpha^0.1 - 1| + |beta / 10|``, with Wilcoxon's p."""
    alpha, beta, plain, gain = _columns(queries)
    key = deviation(alpha, beta)
    order = np.argsort(-key, kind="stable")
    rows: list[dict[str, Any]] = []
    for share in MOST_ADJUSTED:
        chosen = order[: max(1, round(len(order) * share / 100))]
        p = wilcoxon(Pairs(chosen, gain[chosen], np.zeros(len(chosen)))).p
        row = {"most adjusted": f"{share} %", "queries": len(chosen), "deviation from": float(key[chosen].min())}
        row |= {"mean gain": float(gain[chosen].mean()), "gain in %": _percent(gain[chosen], plain[chosen])}
        rows.append(row | {"p (Wilcoxon)": p})
    corrected = holm({row["most adjusted"]: row["p (Wilcoxon)"] for row in rows}, family="table 7").adjusted
    return [row | {"p (Holm)": corrected[row["most adjusted"]]} for row in rows]
