"""What one fold leaves for figures, tables and observations: values of controls and single runs, and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from qdrank.layout import FloatArray
from qdrank.rankers.run_weights import NeighbourWeights
from qdrank.studies.hybrid.fold import Methods
from qdrank.studies.hybrid.methods import FIXED, PREDICTED_TREES

#: Methods that choose among the settings of the grid.
ON_THE_GRID = (FIXED, "hybrid-neighbours", "hybrid-ridge", PREDICTED_TREES, "hybrid-select")

_VALUES = pa.schema(
    {name: pa.string() for name in ("fold", "query_id", "control")} | {"fit": pa.int64(), "value": pa.float64()}
)


def single_runs(methods: Methods, tags: Sequence[str]) -> dict[str, FloatArray]:
    """Measure of the test queries, (n_queries, 1), by each run alone."""
    test, vectors = methods.data.with_vectors()[2]
    alone = methods.options.alone(len(tags))
    values = methods.values_of(np.stack([ranker.predict(test, vectors) for ranker in alone], axis=1))
    return {f"run {tag}": value[:, None] for tag, value in zip(tags, values.T, strict=True)}


def values_table(fold: str, methods: Methods, values: Mapping[str, FloatArray]) -> pa.Table:
    """Values (n_queries, n_fits) of the test queries by control or run."""
    ids, n = methods.data.parts[2].query_id, methods.data.parts[2].n_queries
    tables = [
        pa.Table.from_pydict(
            {"fold": [fold] * n, "query_id": ids, "control": [name] * n, "fit": [fit] * n, "value": value},
            schema=_VALUES,
        )
        for name, fits in values.items()
        for fit, value in enumerate(fits.T)
    ]
    return pa.concat_tables([_VALUES.empty_table(), *tables])


def checks_table(fold: str, methods: Methods, test_curves: FloatArray) -> pa.Table:
    """Largest differences where there must be none: all neighbours against fixed weights, choices against the oracle."""
    everyone = NeighbourWeights(norm=methods.norm, k=1.0)
    train, vectors = methods.data.with_vectors()[0]
    everyone.fit_curves(methods.fixed.settings_, methods.curves[0], train, vectors)
    weights = everyone.weights(*methods.data.with_vectors()[2])
    oracle = test_curves.max(axis=1, keepdims=True)
    above = [(methods.values_of(methods.scores[name]) - oracle).max() for name in ON_THE_GRID]
    rows = {
        "all neighbours": float(np.abs(weights - methods.fixed.tuned).max()),
        "bound": float(np.round(np.max(above), 12)),
    }
    return pa.table({"fold": pa.array([fold] * len(rows)), "check": list(rows), "value": list(rows.values())})
