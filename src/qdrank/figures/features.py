"""Single features as rankers: tables by fold and over folds, and a picture of the best."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from qdrank.evaluation.estimates import shown_mean
from qdrank.figures.numbers import where
from qdrank.figures.palette import COLOURS, GREY, Look
from qdrank.figures.pictures import forest, height_of, label_rows
from qdrank.figures.style import in_doubt, label_axes, new_figure, save_figure
from qdrank.figures.tables import write_tables
from qdrank.measures.names import parse
from qdrank.store import read, write

KEYS = ("fold", "method", "fit", "query_id")
SHOWN = 25
_LOOKS = {
    "feature": Look("", "", COLOURS[0], "o"),
    "reference": Look("", "", COLOURS[1], "o"),
    "doubt": Look("", "", GREY, "o"),
}


def fold_table(values: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """Mean of every measure for each feature and fold."""
    return _named(_fold_means(values), columns).sort_values(["feature", "fold"])


def mean_table(values: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """Mean of the folds' means for each feature, as LETOR publishes it."""
    return _named(_fold_means(values).groupby("method").mean(), columns).sort_values("feature")


def _fold_means(values: pd.DataFrame) -> pd.DataFrame:
    """Means of all measures by feature and fold."""
    return values.groupby(["method", "fold"], sort=False)[[name for name in values if name not in KEYS]].mean()


def _named(means: pd.DataFrame, columns: pd.DataFrame) -> pd.DataFrame:
    """Means with the features' numbers and names in front."""
    rows = means.reset_index().astype({"method": int})
    features = columns.rename(columns={"number": "feature"})[["feature", "name"]]
    return features.merge(rows, left_on="feature", right_on="method", validate="one_to_many").drop(columns="method")


def draw(
    values: pd.DataFrame,
    columns: pd.DataFrame,
    paths: Mapping[str, str | Path],
    *,
    title: str,
    dpi: int,
    **interval: Any,
) -> None:
    """Draw the best features by the first measure, with intervals over the test queries of all folds.

    ``interval`` holds ``level``, ``resamples`` and ``seed`` of the bootstrap.
    """
    name = next(str(column) for column in values if column not in KEYS)
    numbers = _best(values, columns, name, interval)
    write(paths["parquet"], "figure", numbers)
    figure, axes = new_figure(height=height_of(len(numbers)))
    kinds = numbers["reference"].map({True: "reference", False: "feature"})
    in_question = numbers["lacks"] != ""
    forest(axes, numbers.assign(method=kinds.mask(in_question, "doubt"), open=in_question), _LOOKS, "mean", "")
    label_rows(axes, [_label(row) for row in numbers.to_dict("records")])
    axis = f"{parse(name).title} ({name}), {interval['level']:.0%} interval over test queries"
    shown = f"the best {len(numbers)} of" if len(numbers) < len(columns) else "all"
    label_axes(axes, axis, "", f"{title}: {shown} {len(columns)} features{in_doubt(numbers['lacks'])}")
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


def _read(files: Mapping[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    return read(files["measures"], "measures").to_pandas(), read(files["columns"], "columns").to_pandas()


def _label(row: Mapping[Any, object]) -> str:
    name = str(row["name"])
    label = name if name.endswith(f" {row['feature']}") else f"{row['feature']} {name}"
    return f"{label} (reference)" if row["reference"] else label


def _best(values: pd.DataFrame, columns: pd.DataFrame, name: str, interval: Mapping[str, Any]) -> pd.DataFrame:
    """The features with the highest mean over all test queries, and the reference feature, wherever it ranks."""
    means = values.groupby("method")[name].mean()
    rows = columns[["number", "name", "reference"]].rename(columns={"number": "feature"})
    rows = rows.assign(mean=rows["feature"].astype(str).map(means))
    rows = rows.sort_values(["mean", "feature"], ascending=[False, True], ignore_index=True)
    rows = rows[(rows.index < SHOWN) | rows["reference"]]
    of = [where(values, method=str(feature))[name].to_numpy() for feature in rows["feature"]]
    shown = pd.DataFrame([shown_mean(one[:, None], **interval) for one in of], rows.index)
    return pd.DataFrame(rows.drop(columns="mean").join(shown, validate="one_to_one"))
