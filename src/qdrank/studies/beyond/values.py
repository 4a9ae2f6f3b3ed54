"""Average precision per test query of methods and controls, joined on query ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.evaluation.pairs import Pairs, differences_by_fit, fit_values, fold_of, paired_fits
from qdrank.evaluation.refits import by_fit
from qdrank.layout import FloatArray, rows_of
from qdrank.studies.beyond.methods import BY_NAME, CONTROLS, GATED, MEASURE, METHODS, OTHER_GATE, SINGLE, TREES

Key = tuple[str, float]
"""Method or control, and the similarity from which queries are left out; 0 if none are."""


@dataclass(frozen=True, eq=False)
class Values:
    """Values of the test queries of all folds.

    Attributes
    ----------
    query_id, fold : (n_queries,) by ascending id
    of : by method or control, (n_queries, n_fits); of what is fitted once, one column
    """

    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    of: Mapping[Key, FloatArray]

    def pairs(self, a: Key, b: Key) -> Pairs:
        """Values of two rankers on the same queries, paired by fit."""
        return paired_fits(self.query_id, self.of[a], self.of[b])

    def by_fit(self, pairs: Sequence[tuple[Key, Key]]) -> FloatArray:
        """Differences of pairs of rankers, (n_queries, n_fits, n_pairs); one that is fitted once serves every fit."""
        return differences_by_fit([(self.of[a], self.of[b]) for a, b in pairs])


def gathered_values(measures: pa.Table, values: pa.Table) -> Values:
    """Values of the methods from the artifact ``measures``, and of controls, and without near-duplicates, from ``values``."""
    measured = set(measures.column("method").to_pylist())
    names = [name for name in BY_NAME if name in measured]
    of: dict[Key, FloatArray] = {(name, 0.0): fit_values(measures, [name], MEASURE)[1][:, :, 0] for name in names}
    ids = fit_values(measures, names[:1], MEASURE)[0]
    fold = fold_of(measures)
    for (name, near), rows in values.to_pandas().fillna({"x": 0.0}).groupby(["method", "x"], sort=False):
        known, of_fits = by_fit(*(rows[column].to_numpy() for column in ("query_id", "fit", MEASURE)))
        of[name, near] = of_fits[rows_of(ids, known, among="the queries of the controls")]
    return Values(ids, np.array([fold[query] for query in ids.tolist()], dtype=object), of)


def thresholds(values: Values) -> list[float]:
    """Similarity thresholds from which queries were left out, descending."""
    return sorted({near for _, near in values.of if near}, reverse=True)


def comparisons(values: Values) -> list[tuple[Key, Key]]:
    """All exploratory comparisons: rankers against Single, LambdaMART and controls; also without near-duplicates."""
    pairs: list[tuple[Key, Key]] = []
    for method in METHODS[2:-1]:
        against = [SINGLE, TREES, *([CONTROLS[method.name]] if method.name in CONTROLS else [])]
        against += [OTHER_GATE] if method.name == GATED else []
        pairs += [((method.name, 0.0), (other, 0.0)) for other in against]
    for near in thresholds(values):
        for method_name in ("beyond-evidence", "beyond-trees-evidence"):
            pairs.append(((method_name, near), (CONTROLS[method_name], near)))
    return pairs
