"""The inferred choices varied one by one: how much each matters, compared with the K-means seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from qdrank.studies.lin2011.fold import LinFold
from qdrank.studies.lin2011.methods import ALGORITHMS, NAIVE, PAPER, SELECT, TRANSFORM, Algorithm
from qdrank.studies.lin2011.options import Grid, Readings
from qdrank.studies.lin2011.sweep import best, test_scores, validated
from qdrank.studies.lin2011.units import OTHER_SET, other_transformations

#: Values of every choice that needs no further models, and the methods it affects.
CHOICES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "representation": (("mean", "vote"), (NAIVE,)),
    "distribution": (("minmax", "softmax"), (SELECT,)),
    "divergence": (("local-base", "base-local", "js"), (SELECT,)),
    "membership": (("most", "every"), (SELECT,)),
    "confidence": (("sum", "mean"), (SELECT,)),
    "weighting": (("inverse", "gaussian"), (TRANSFORM,)),
    "score_scale": (("minmax", "zscore", "raw"), (SELECT, TRANSFORM)),
}


@dataclass(frozen=True)
class Variant:
    """One choice read differently.

    Attributes
    ----------
    choice, value : its name, and how it is read; both empty for the study's own readings
    methods : methods it affects
    scheme : clusterings it needs, if they differ from the study's
    """

    choice: str
    value: str
    readings: Readings
    methods: tuple[str, ...]
    scheme: str = ""


def variants(readings: Readings) -> Iterator[Variant]:
    """The study's own readings, and every other value of every choice."""
    yield Variant("", "", readings, PAPER)
    other = "queries" if readings.training_set == "relevant" else "relevant"
    yield Variant("training_set", other, readings, (NAIVE, SELECT), OTHER_SET)
    for choice, (values, methods) in CHOICES.items():
        for value in values:
            if value != getattr(readings, choice):
                yield Variant(choice, value, readings.model_copy(update={choice: value}), methods)
    for scheme, other_readings in other_transformations(readings).items():
        yield Variant("transformation", other_readings.transformation, other_readings, (TRANSFORM,), scheme)


def variants_table(name: str, fold: LinFold, grid: Grid, n_seeds: int) -> pa.Table:
    """Validation and test MAP of every variant, each with the settings that validation chose for it.

    One row per variant, method and seed. The table keeps sums over the test queries, so that folds can be combined.
    """
    rows: list[dict[str, Any]] = []
    for variant in variants(fold.readings) if n_seeds else ():
        read = fold.read_as(variant.readings)
        for method in variant.methods:
            one = ALGORITHMS[method]
            algorithm = Algorithm(variant.scheme or one.scheme, one.kind, one.size)
            for seed in fold.bank.seeds[:n_seeds]:
                row = {"fold": name, "choice": variant.choice, "value": variant.value, "method": method, "seed": seed}
                rows.append(row | _measured(read, algorithm, seed, grid))
    return pa.Table.from_pylist(rows, _SCHEMA)


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("fold", "choice", "value", "method")]
    + [("seed", pa.int64()), ("validation", pa.float64()), ("test_sum", pa.float64()), ("queries", pa.int64())]
)


def _measured(fold: LinFold, algorithm: Algorithm, seed: int, grid: Grid) -> dict[str, float]:
    values = validated(fold, {"": algorithm}, seed, grid)[""]
    chosen = best(values)
    test = fold.roles["test"]
    ap = test.ap(test_scores(fold, algorithm, seed, chosen)[None])[0]
    return {"validation": values[chosen], "test_sum": float(ap.sum()), "queries": len(ap)}
