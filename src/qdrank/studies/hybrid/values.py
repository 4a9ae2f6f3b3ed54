"""Values per test query of methods, controls and single runs, joined on query ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.evaluation.observations import Contrast, pairs_contrast
from qdrank.evaluation.pairs import Pairs, fit_values, paired_fits
from qdrank.evaluation.refits import by_fit
from qdrank.layout import FloatArray, rows_of
from qdrank.studies.hybrid.methods import MEASURE, METHODS
from qdrank.studies.making import Inputs


@dataclass(frozen=True, eq=False)
class Values:
    """Values of the test queries of all folds: ids and folds (n_queries,) by ascending id, and values (n_queries, n_fits) by name."""

    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    of: Mapping[str, FloatArray]

    def pairs(self, a: str, b: str) -> Pairs:
        """Values of two methods on the same queries, paired by fit."""
        return paired_fits(self.query_id, self.of[a], self.of[b])

    def difference(self, a: str, b: str) -> Contrast:
        """Their differences, as a contrast."""
        return pairs_contrast(self.pairs(a, b), self.fold)


def gathered_values(inputs: Inputs) -> Values:
    """Values of the methods from the artifact ``measures``, of controls and runs from the ``values`` of all folds."""
    measures, controls = inputs.table("measures", "measures"), inputs.table("values", "values")
    measured = set(measures.column("method").to_pylist())
    names = [method.name for method in METHODS if method.name in measured]
    ids = fit_values(measures, names[:1], MEASURE)[0]
    of = {name: fit_values(measures, [name], MEASURE)[1][:, :, 0] for name in names}
    for name in dict.fromkeys(controls.column("method").to_pylist()):
        drawn = controls.filter(pc.equal(controls.column("method"), name))
        known_ids, fits = by_fit(
            *(drawn.column(c).to_numpy(zero_copy_only=False) for c in ("query_id", "fit", MEASURE))
        )
        of[name] = fits[rows_of(ids, known_ids, among="the queries of the controls")]
    fold = dict(zip(*(controls.column(name).to_pylist() for name in ("query_id", "fold")), strict=True))
    return Values(ids, np.array([fold[query] for query in ids.tolist()], dtype=object), of)


def by_query(table: pa.Table, by: str, ids: NDArray[np.object_], value: str = "value") -> dict[str, FloatArray]:
    """Values (n_queries,) in the order of ``ids``, for each entry of the column ``by``; nan where a query has none."""
    columns: dict[str, FloatArray] = {}
    for name in dict.fromkeys(table.column(by).to_pylist()):
        rows = table.filter(pc.equal(table.column(by), name))
        place = rows_of(rows.column("query_id").to_numpy(zero_copy_only=False), ids, among="the measured queries")
        columns[name] = np.full(len(ids), np.nan)
        columns[name][place] = rows.column(value).to_numpy()
    return columns


def known(names: Sequence[str], values: Values) -> list[str]:
    """Those of ``names`` that have values."""
    return [name for name in names if name in values.of]
