import csv
import itertools
from html.parser import HTMLParser
from pathlib import Path

import matplotlib.pyplot as plt
import pyarrow as pa
import pytest

from qdrank.figures.overview import LIBRARIES, overview_page
from qdrank.figures.style import label_axes, new_figure, save_figure
from qdrank.figures.tables import markdown, table_page, write_table
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


class Page(HTMLParser):
    """Rows of the table as lists of texts, the classes of its cells, and what is folded away."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.classes: list[list[str | None]] = []
        self.folded: list[str] = []
        self.table: str | None = None
        self._in: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("wbr", "meta"):
            self._in.append(tag)
        if tag == "table":
            self.table = dict(attrs).get("class")
        elif tag == "tr":
            self.rows.append([])
            self.classes.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.classes[-1].append(dict(attrs).get("class"))

    def handle_endtag(self, tag: str) -> None:
        assert self._in.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "details" in self._in:
            self.folded += [data] if self._in[-1] in ("dt", "dd") else []
        elif {"td", "th"} & set(self._in):
            self.rows[-1][-1] += data


def page(table: pa.Table, **options) -> Page:
    cells = [[str(value) for value in row.values()] for row in table.to_pylist()]
    return Page(table_page(table, cells, "A <title>", **options))


def test_every_cell_is_there_and_escaped():
    table = pa.table(
        {"name & more": ["<b>", "x" * 20], "ndcg@10/exp": [0.5, 0.25], "verdict": ["holds", "does not hold"]}
    )
    made = page(table)
    assert made.rows[0] == table.column_names
    assert made.rows[1:] == [["<b>", "0.5", "holds"], ["x" * 20, "0.25", "does not hold"]]
    assert made.classes[0] == [None, "n", None]
    assert made.classes[1] == [None, "n", "holds"]
    assert made.classes[2] == ["w", "n", "fails"]


def test_details_are_folded_away_unless_they_are_empty():
    made = page(
        pa.table({"claim": ["a", "b"], "reason": ["because", ""], "note": ["&", "n"]}), folded=["reason", "note"]
    )
    assert [row[0] for row in made.rows] == ["claim", "a", "b"]
    assert made.folded == ["reason", "because", "note", "&", "note", "n"]


@pytest.mark.parametrize(("columns", "look"), [(10, None), (11, "many"), (23, "most")])
def test_more_columns_have_smaller_letters(columns, look):
    assert page(pa.table({f"c{i}": ["a"] * 40 for i in range(columns)})).table == look


def test_markdown_keeps_bars_inside_their_cells():
    assert (
        markdown(pa.table({"a|b": ["x|y"], "n": [0.12345]}), digits=2)
        == "| a\\|b | n |\n| --- | ---: |\n| x\\|y | 0.12 |\n"
    )


def test_the_overview_names_data_what_is_left_out_and_software():
    about = {"title": "A & B", "kind": "letor", "folds": ["fold1", "fold2"], "note": "<none>"}
    made = Page(overview_page({"toy": about}, {"other": "not here"}))
    assert ["toy", "A & B", "letor", "fold1, fold2", "<none>"] in made.rows
    assert ["other", "not here"] in made.rows
    assert {row[0] for row in made.rows} >= {"python", *LIBRARIES}
    assert "Left out" not in overview_page({"toy": about}, {})


LONG = "A data set whose title is long, normalised within queries (QueryLevelNorm): the number of neighbours by class"


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_long_titles_are_broken_and_stay_inside(columns, tmp_path, monkeypatch):
    monkeypatch.setattr(plt, "close", lambda _: None)
    figure, panels = new_figure(1, columns, squeeze=False)
    figure.suptitle(f"{LONG}\nand a second line")
    for axes in panels[0]:
        axes.set_title(LONG)
    save_figure(figure, {"svg": tmp_path / "a.svg"})
    titles = [*figure.texts, *(axes.title for axes in panels[0])]
    for title in titles:
        box = title.get_window_extent()
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.width
        assert title.get_text().replace("\n", " ").removesuffix(" and a second line") == LONG
    edges = [axes.title.get_window_extent() for axes in panels[0]]
    assert all(left.x1 <= right.x0 for left, right in itertools.pairwise(edges))


def test_short_titles_are_left_alone(tmp_path):
    figure, axes = new_figure()
    axes.set_title("short")
    save_figure(figure, {"svg": tmp_path / "a.svg"})
    assert axes.get_title() == "short"
