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


def test_what_is_not_0_is_never_shown_as_0_and_whole_numbers_are_whole(tmp_path: Path) -> None:
    table = pa.table({"p (Holm)": [0.0, 0.00004], "p@5/letor4": [0.0, 0.25], "gap": [1e-12, 0.0], "k": [16.0, 470.0]})
    write_table(table, forms(tmp_path))
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[2] == "| < 0.0001 | 0.0000 | 1.0e-12 | 16 |"
    assert lines[3] == "| < 0.0001 | 0.2500 | 0.0000 | 470 |"
    assert "<td class=n>&lt; 0.0001</td>" in (tmp_path / "t.html").read_text()


def test_a_wide_table_of_few_rows_is_turned_on_the_page_alone(tmp_path: Path) -> None:
    names = [f"NDCG@{i}" for i in range(1, 29)]
    columns = {"method": ["RankSVM", "Tricky <&>"]} | {name: ["0.4321", "0.4567+*"] for name in names}
    write_table(pa.table(columns), forms(tmp_path))
    page = (tmp_path / "t.html").read_text()
    assert "<th>method</th><th class=n>RankSVM</th><th class=n>Tricky &lt;&amp;&gt;</th>" in page
    assert "<tr><td>NDCG@<wbr>28</td><td class=n>0.4321</td><td class=n>0.4567+*</td></tr>" in page
    assert page.count("<tr>") == 29
    assert (tmp_path / "t.md").read_text().count("\n") == 4  # head, marks, two rows
    many_rows = pa.table({name: values * 20 for name, values in columns.items()})
    write_table(many_rows, forms(tmp_path / "long"))
    assert "class=turned" not in (tmp_path / "long/t.html").read_text()


def test_folded_columns_open_and_verdicts_have_colours(tmp_path: Path) -> None:
    table = pa.table({"verdict": ["holds"], "effect": [0.1], "note": ["a <b>"]})
    write_table(table, forms(tmp_path), folded=["note"])
    page = (tmp_path / "t.html").read_text()
    assert "<td class=holds>holds</td>" in page
    assert "<dt>note</dt><dd>a &lt;b&gt;</dd>" in page
    assert "<th>note</th>" not in page
    assert "a <b>" in (tmp_path / "t.md").read_text()
