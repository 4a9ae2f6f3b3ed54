"""Single features as rankers: tables by fold and over folds, and a picture of the best."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from qdrank.figures.palette import COLOURS, GREY
from qdrank.figures.style import in_doubt, label_axes, new_figure, save_figure
from qdrank.figures.tables import write_tables
from qdrank.layout import FloatArray
from qdrank.measures import parse
from qdrank.store import read, write

KEYS = ("fold", "method", "fit", "query_id")
SHOWN = 25
_SCHEMA = pa.schema(
    [("feature", pa.int64()), ("name", pa.string()), ("reference", pa.bool_())]
    + [(name, pa.float64()) for name in ("mean", "low", "high")]
    + [("lacks", pa.string())]
)


def fold_table(measures: pa.Table, columns: pa.Table) -> pa.Table:
    """Mean of every measure for each feature and fold."""
    means, names = _fold_means(measures)
    return _labelled(means, ["fold"], names, columns)


def mean_table(measures: pa.Table, columns: pa.Table) -> pa.Table:
    """Mean of the folds' means for each feature, as LETOR publishes it."""
    by_fold, names = _fold_means(measures)
    means = by_fold.group_by("method", use_threads=False).aggregate([(f"{name}_mean", "mean") for name in names])
    means = means.rename_columns([column.removesuffix("_mean") for column in means.column_names])
    return _labelled(means, [], names, columns)


def _fold_means(measures: pa.Table) -> tuple[pa.Table, list[str]]:
    """Means by feature and fold, and the names of the measures."""
    names = [name for name in measures.column_names if name not in KEYS]
    wanted = [(name, "mean") for name in names]
    return measures.group_by(["method", "fold"], use_threads=False).aggregate(wanted), names


def _labelled(means: pa.Table, keys: list[str], names: list[str], columns: pa.Table) -> pa.Table:
    """Rows by number of the feature, with its name."""
    number = means.column("method").cast(pa.int32()).to_numpy()
    order = np.lexsort((*(means.column(key).to_numpy(zero_copy_only=False).astype(str) for key in keys), number))
    known = dict(zip(columns.column("number").to_pylist(), columns.column("name").to_pylist(), strict=True))
    data = {"feature": pa.array(number[order]), "name": [known[i] for i in number[order].tolist()]}
    data |= {key: means.column(key).take(order) for key in keys}
    return pa.table(data | {name: means.column(f"{name}_mean").take(order) for name in names})


def draw(
    measures: pa.Table, columns: pa.Table, paths: Mapping[str, str | Path], *, title: str, dpi: int, **interval: Any
) -> None:
    """Draw the best features by the first measure, with intervals over the test queries of all folds.

    ``interval`` holds ``level``, ``resamples`` and ``seed`` of the bootstrap.
    """
    name = next(column for column in measures.column_names if column not in KEYS)
    numbers = _best(measures, columns, name, interval)
    write(paths["parquet"], "figure", numbers)
    mean, low, high = (numbers.column(c).to_numpy() for c in ("mean", "low", "high"))
    lacks = numbers.column("lacks").to_pylist()
    figure, axes = new_figure(height=0.9 + 0.19 * len(numbers))
    place = -np.arange(len(numbers))
    colours = [
        GREY if lack else COLOURS[1] if is_reference else COLOURS[0]
        for lack, is_reference in zip(lacks, numbers.column("reference").to_pylist(), strict=True)
    ]
    axes.hlines(place, low, high, colors=colours, linewidth=1.2)
    filled = ["white" if lack else colour for lack, colour in zip(lacks, colours, strict=True)]
    axes.scatter(mean, place, c=filled, edgecolors=colours, s=18, zorder=3)
    axes.set_yticks(place, [_label(row) for row in numbers.to_pylist()])
    axis = f"{parse(name).title} ({name}), {interval['level']:.0%} interval over test queries"
    label_axes(axes, axis, "", f"{title}: {_how_many(len(numbers), len(columns))}{in_doubt(lacks)}")
    save_figure(figure, {form: path for form, path in paths.items() if form != "parquet"}, dpi=dpi)


def draw_features(
    files: Mapping[str, str], out: Mapping[str, str], *, title: str, dpi: int, interval: Mapping[str, Any]
) -> None:
    """Draw the best features from the measures of all."""
    draw(*_read(files), out, title=title, dpi=dpi, **interval)


def tabulate_features(files: Mapping[str, str], out: Mapping[str, str], *, title: str) -> None:
    """Write the tables of all features: means of the folds, and by fold."""
    of = f"{title}: single features"
    tables = {"means": (mean_table(*_read(files)), f"{of}, mean of folds")}
    write_tables(tables | {"folds": (fold_table(*_read(files)), f"{of}, by fold")}, out)


def _read(files: Mapping[str, str]) -> tuple[pa.Table, pa.Table]:
    return read(files["measures"], "measures"), read(files["columns"], "columns")


def _how_many(shown: int, known: int) -> str:
    return f"all {known} features" if shown == known else f"the best {shown} of {known} features"


def _label(row: Mapping[str, object]) -> str:
    name = str(row["name"])
    label = name if name.endswith(f" {row['feature']}") else f"{row['feature']} {name}"
    return f"{label} (reference)" if row["reference"] else label


def _best(measures: pa.Table, columns: pa.Table, name: str, interval: Mapping[str, Any]) -> pa.Table:
    """The features with the highest mean over all test queries, and the reference feature, wherever it ranks."""
    from qdrank.evaluation.refits import shown_mean  # with SciPy, which the job that writes tables does not need

    method = measures.column("method").to_numpy(zero_copy_only=False).astype(np.int64)
    values: FloatArray = measures.column(name).to_numpy()
    rows: list[dict[str, Any]] = []
    for number, text, reference in zip(
        *(columns.column(c).to_pylist() for c in ("number", "name", "reference")), strict=True
    ):
        of_feature = values[method == number]
        rows.append({"feature": number, "name": text, "reference": reference, "mean": float(of_feature.mean())})
    rows.sort(key=lambda row: (-row["mean"], row["feature"]))
    rows = [row for i, row in enumerate(rows) if i < SHOWN or row["reference"]]
    shown = [row | shown_mean(values[method == row["feature"]][:, None], **interval) for row in rows]
    return pa.Table.from_pylist(shown, _SCHEMA)
