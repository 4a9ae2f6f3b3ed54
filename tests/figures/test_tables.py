from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from qdrank.figures.style import label_axes, new_figure, save_figure
from qdrank.figures.tables import write_table
from qdrank.store import read

TABLE = pa.table(
    {"name": ["a|b", "50% & <more>_"], "n": [1, 2], "value": [0.123456789, float("nan")], "gap": [None, 1.0]}
)


def forms(folder: Path) -> dict[str, Path]:
    return {form: folder / f"t.{form}" for form in ("parquet", "csv", "md", "tex", "html")}


def test_five_forms_of_one_table(tmp_path: Path) -> None:
    paths = forms(tmp_path)
    write_table(TABLE, paths, digits=3, title="A & B")
    assert read(paths["parquet"], "table").column("value").to_pylist()[0] == 0.123456789
    rows = list(csv.reader(paths["csv"].read_text().splitlines()))
    assert rows[1] == ["a|b", "1", "0.123456789", ""]
    assert "| a\\|b | 1 | 0.123 |  |" in paths["md"].read_text()
    assert r"50\% \& <more>\_ & 2 &  & 1.000 \\" in paths["tex"].read_text()
    page = paths["html"].read_text()
    assert "50% &amp; &lt;more&gt;_" in page
    assert "<h1>A &amp; B</h1>" in page


def test_forms_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_table(TABLE, forms(tmp_path / name))
    for form, path in forms(tmp_path / "one").items():
        assert path.read_bytes() == forms(tmp_path / "two")[form].read_bytes(), form


def test_pictures_are_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        figure, axes = new_figure()
        axes.plot([1, 2], [3, 4], marker="o")
        label_axes(axes, "x", "y", "title")
        save_figure(figure, {form: tmp_path / f"{name}.{form}" for form in ("pdf", "svg", "png")})
    for form in ("pdf", "svg", "png"):
        assert (tmp_path / f"one.{form}").read_bytes() == (tmp_path / f"two.{form}").read_bytes(), form
