from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.datasets.columns import columns_table, letor_names, reference_column
from qdrank.datasets.importing import import_features
from qdrank.datasets.judged import Judged, load_judged
from qdrank.errors import InputError
from qdrank.evaluation.measuring import measure_features
from qdrank.figures.data import data_summary, notes_table
from qdrank.figures.features import draw, fold_table, mean_table
from qdrank.figures.style import add_to_title, new_figure
from qdrank.measures import CONVENTIONS
from qdrank.store import read, write
from qdrank.studies.making import without_intervals


@pytest.fixture
def judged() -> Judged:
    rng = np.random.default_rng(0)
    parts = np.repeat(np.array([f"S{i}" for i in range(1, 6)], dtype=object), 4)
    offsets = np.arange(0, 20 * 6 + 1, 6)
    return Judged(
        query_id=np.array([f"q{i}" for i in range(20)], dtype=object),
        part=parts,
        offsets=offsets,
        doc_id=np.array([f"d{i}" for i in range(120)], dtype=object),
        y=rng.integers(0, 3, 120),
        X=rng.random((120, 3), dtype=np.float32),
    )


def test_the_summary_tells_the_fewest_and_the_most_documents_of_a_query(judged: Judged) -> None:
    uneven = Judged(
        judged.query_id[:2], judged.part[:2], np.array([0, 2, 9]), judged.doc_id[:9], judged.y[:9], judged.X[:9]
    )
    row = data_summary(uneven).to_pylist()[-1]
    assert (row["fewest"], row["most"], row["per query"]) == (2, 7, 4.5)


def test_parts_of_the_summary_are_in_order(judged: Judged) -> None:
    """A file that is cut by query meets its parts in any order."""
    for names in (["S3", "S1", "S5", "S2", "S4"], ["test", "train", "vali", "S1", "S2"]):
        mixed = replace(judged, part=np.repeat(np.array(names, dtype=object), 4))
        shown = [row["part"] for row in data_summary(mixed).to_pylist()]
        assert shown == [
            *(["S1", "S2", "S3", "S4", "S5"] if names[0] == "S3" else ["train", "vali", "test", "S1", "S2"]),
            "all",
        ]


def test_the_summary_counts(judged: Judged) -> None:
    rows = data_summary(judged).to_pylist()
    assert [row["part"] for row in rows] == ["S1", "S2", "S3", "S4", "S5", "all"]
    assert sum(row["documents"] for row in rows[:-1]) == rows[-1]["documents"] == 120
    first = judged.take(np.array([0])).y
    pairs = sum(a > b for a in first for b in first)
    by_query = [sum(a > b for a in ys for b in ys) for ys in np.split(judged.y, judged.offsets[1:-1])]
    assert by_query[0] == pairs
    assert rows[-1]["pairs"] == sum(by_query)
    assert sum(rows[-1][f"grade {g}"] for g in range(3)) == 120


def test_tables_of_single_features(judged: Judged) -> None:
    names = CONVENTIONS["letor4"]
    measures = measure_features(names, judged, judged.folds)
    columns = columns_table(["BM25", "feature 2", "PageRank"], 0)
    frames = measures.to_pandas(), columns.to_pandas()
    by_fold, mean = fold_table(*frames), mean_table(*frames)
    assert len(by_fold) == 15
    assert mean["name"].tolist() == ["BM25", "feature 2", "PageRank"]
    second = by_fold[by_fold["feature"] == 2]["ap"]
    assert mean["ap"].iloc[1] == pytest.approx(np.mean(second))


def test_the_picture_holds_the_reference(judged: Judged, tmp_path: Path) -> None:
    values = measure_features(["ap"], judged, judged.folds).to_pandas()
    columns = columns_table(["a", "b", "c"], 2).to_pandas()
    paths = {form: tmp_path / f"f.{form}" for form in ("parquet", "svg")}
    draw(values, columns, paths, title="toy", dpi=50, level=0.9, resamples=100, seed=1)
    numbers = read(paths["parquet"], "figure").to_pylist()
    assert {row["feature"] for row in numbers if row["reference"]} == {3}
    assert numbers == sorted(numbers, key=lambda row: -row["mean"])
    # 20 queries are too few for an interval: grey and open, and the picture says so
    assert all(row["low"] is None and row["lacks"].startswith("too few queries: 20") for row in numbers)
    assert "grey, open: says nothing (too few queries)" in paths["svg"].read_text()
    many = pd.concat([values] * 4)
    draw(many, columns, paths, title="toy", dpi=50, level=0.9, resamples=100, seed=1)
    numbers = read(paths["parquet"], "figure").to_pylist()
    assert all(row["low"] < row["mean"] < row["high"] and not row["lacks"] for row in numbers)
    assert "grey" not in paths["svg"].read_text()


def test_a_figure_without_any_interval_says_so() -> None:
    nan, some = float("nan"), {"difference_low": [0.1]}
    assert without_intervals(pa.table({"low": [nan], "difference_low": pa.array([None], pa.float64())}))
    assert not without_intervals(pa.table({"low": [nan]} | some))
    assert not without_intervals(pa.table({"slow": [nan]}))
    assert not without_intervals(pa.table({"low": [nan], "lacks": ["too few queries"]}))
    for headed in (True, False):
        figure, axes = new_figure()
        axes.set_title("panel")
        if headed:
            figure.suptitle("head")
        add_to_title(figure, "no intervals")
        assert [figure.get_suptitle(), axes.get_title()] == (
            ["head\nno intervals", "panel"] if headed else ["", "panel\nno intervals"]
        )


def test_letor4_features_have_names() -> None:
    names = letor_names(46)
    assert len(names) == 46
    assert names[36] == "BM25 whole document"
    assert names[24] == "BM25 anchor"
    assert names[40] == "PageRank"
    assert letor_names(2) == ["feature 1", "feature 2"]


def test_the_reference_must_be_a_feature(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="feature 4 cannot be the reference"):
        columns_table(["a", "b", "c"], 3)
    write(tmp_path / "c.parquet", "columns", columns_table(["a", "b", "c"], 1))
    assert reference_column(tmp_path / "c.parquet") == 1


def imported(folder: Path, text: str, max_label: int) -> dict[str, Path]:
    """Artifacts of rows that are the same in every part, with no reference named."""
    files = {part: folder / part for part in ("train", "vali", "test")}
    for part, file in files.items():
        file.write_text(text.replace("qid:", f"qid:{part}"))
    out = {name: folder / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    import_features(files, out, reference=None, max_label=max_label, missing_values=False, seed=0)
    return out


def test_without_a_reference_the_best_feature_takes_its_place(tmp_path: Path) -> None:
    text = "".join(f"{d % 2} qid:{q} 1:{(d * 7 + q) % 5} 2:{d % 2}\n" for q in range(15) for d in range(4))
    out = imported(tmp_path, text, max_label=1)
    assert reference_column(out["columns"]) == 1
    assert load_judged(out["judged"]).n_queries == 45
    assert read(out["topics"], "topics").num_rows == 45


def test_a_constant_feature_is_no_reference_where_rows_are_sorted_by_grade(tmp_path: Path) -> None:
    """Tied documents in row order would give it the best MAP there is."""
    rows = [(2 - d // 2, d) for d in range(6)]
    text = "".join(f"{y} qid:{q} 1:1 2:{(9 - d) + 5 * ((d + q) % 6 == 5)}\n" for q in range(15) for y, d in rows)
    out = imported(tmp_path, text, max_label=2)
    assert reference_column(out["columns"]) == 1


def test_the_notes_say_where_documents_have_their_names_from(tmp_path: Path) -> None:
    rows = [f"{d % 2} qid:{q} 1:{d} 2:{q}" for q in range(20) for d in range(3)]
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    for end, said in ((" # 7{} rambo", "first word of the rows' comments"), ("", "without names")):
        (tmp_path / "all.txt").write_text("".join(f"{row}{end.format(i)}\n" for i, row in enumerate(rows)))
        options = {"reference": 1, "max_label": 4, "missing_values": False, "seed": 1}
        notes = import_features({"all": tmp_path / "all.txt"}, out, **options)
        (row,) = notes_table(notes).to_pylist()
        assert row["what"] == "documents of all"
        assert said in row["value"]


def test_names_of_own_features(tmp_path: Path) -> None:
    (tmp_path / "all.txt").write_text("".join(f"{d % 2} qid:{q} 1:{d} 2:{q}\n" for q in range(20) for d in range(3)))
    out = {name: tmp_path / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    options = {"reference": 1, "max_label": 4, "missing_values": False, "seed": 1}
    import_features({"all": tmp_path / "all.txt"}, out, **options, names=["BM25 of the title", "clicks"])
    assert read(out["columns"], "columns").column("name").to_pylist() == ["BM25 of the title", "clicks"]
    for names, words in ((["one"], "1 names for 2 features"), (["same", "same"], "the same name")):
        with pytest.raises(InputError, match=words):
            import_features({"all": tmp_path / "all.txt"}, out, **options, names=names)
