"""Figures and tables of Geng 2008: the numbers behind them, and that they are drawn the same twice."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.evaluation.intervals import column_intervals
from qdrank.figures.style import save_figure
from qdrank.store import read, table_of, write
from qdrank.store.tables import list_column
from qdrank.studies.geng2008 import figures
from qdrank.studies.geng2008.methods import PAPER
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, K_MEANS, NO_CLASSIFIER
from qdrank.studies.geng2008.tables import along_k, classes_table, curve, variants_table
from qdrank.studies.making import Inputs, Shown

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}
METHODS = ["single", "qc", "qc-documents", "knn-online", "knn-offline1", "knn-offline2", "knn-random", "reference"]
LAM = 0.01


def made_measures(n=80):
    rng = np.random.default_rng(2)
    base = rng.random((n, 11))
    rows = []
    for i, method in enumerate(METHODS):
        for q in range(n):
            row = {"fold": f"fold{q % 2 + 1}", "method": method, "query_id": f"q{q}"}
            rows.append(row | dict(zip(figures.DRAWN_MEASURES, base[q] + 0.01 * i, strict=True)) | {"ap": base[q, 0]})
    return pa.Table.from_pylist([rows[i] for i in rng.permutation(len(rows))])


def made_values(n=30):
    rng = np.random.default_rng(3)
    rows = []
    for method in ("single", "knn-online", "knn-offline1", "knn-offline2", "knn-random"):
        for fold, ks in (("fold1", [2, 5, 10]), ("fold2", [2, 6, 12])):
            for k in ks[-1:] if method == "single" else ks:
                for q in range(n):
                    row = {"fold": fold, "role": "test", "method": method, "fit": 0, "x": float(k)}
                    row |= {"query_id": f"{fold}-{q}", "mean_ndcg/geng": rng.random(), "ndcg@5/geng": rng.random()}
                    gamma = (1 - k / ks[-1]) * (1 + (method == "knn-offline2"))
                    rows.append(row | {"ndcg@10/geng": k / ks[-1], "gamma": gamma if k > 2 or q else np.inf})
    return pa.Table.from_pylist(rows)


SHOWN = Shown("made", "Made data", ["fold1", "fold2"], INTERVAL, {"lam": LAM})


def drawn_twice(tmp_path, draw, **artifacts):
    """Both drawings have the same bytes in every format; the numbers are given back."""
    files = {}
    for name, (shape, table) in artifacts.items():
        write(tmp_path / f"{name}.parquet", shape, table)
        files[name] = [str(tmp_path / f"{name}.parquet")]
    for folder in ("a", "b"):
        figure, numbers = draw(Inputs(files), SHOWN)
        save_figure(figure, {form: tmp_path / folder / f"figure.{form}" for form in ("svg", "png", "pdf")}, dpi=60)
        write(tmp_path / folder / "figure.parquet", "figure", numbers)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    return read(tmp_path / "a" / "figure.parquet", "figure")


def test_figure_7_shows_paired_differences(tmp_path):
    table = drawn_twice(tmp_path, figures.draw_methods, measures=("measures", made_measures()))
    row = next(r for r in table.to_pylist() if (r["method"], r["measure"]) == ("qc", "ndcg@5/geng"))
    assert row["difference"] == pytest.approx(0.01)
    assert row["difference_low"] is None  # all differences are equal: no interval
    assert row["low"] < row["mean"] < row["high"]
    assert set(table.column("method").to_pylist()) <= set(PAPER)


def test_controls_and_differences_are_figures_of_their_own(tmp_path):
    measures = made_measures()
    table = drawn_twice(tmp_path / "controls", figures.draw_controls, measures=("measures", measures))
    assert set(table.column("method").to_pylist()) & set(PAPER) == {"single"}
    table = drawn_twice(tmp_path / "differences", figures.draw_differences, measures=("measures", measures))
    assert set(table.column("measure").to_pylist()) == {"mean_ndcg/geng"}
    assert "single" not in table.column("method").to_pylist()


def test_figure_8_has_single_at_all_training_queries(tmp_path):
    table = drawn_twice(tmp_path, figures.draw_neighbours, values=("values", made_values())).to_pylist()
    own = [r for r in table if (r["method"], r["measure"]) == ("knn-online", "ndcg@10/geng")]
    assert [r["k"] for r in own] == [2, 5.5, 11]
    assert [r["mean"] for r in own] == pytest.approx([(1 / 5 + 1 / 6) / 2, 0.5, 1])
    assert own[-1]["low"] is None  # Single itself
    assert own[-1]["high"] is None


def test_figure_9_counts_ratios_that_are_not_finite(tmp_path):
    table = drawn_twice(tmp_path, figures.draw_ratios, values=("values", made_values())).to_pylist()
    first = [r for r in table if r["method"] == "knn-offline1"]
    assert [r["empty"] for r in first] == [2, 0, 0]
    assert first[1]["mean"] == pytest.approx(0.5)
    assert first[-1]["mean"] == 0


def made_queries():
    rng = np.random.default_rng(4)
    kinds = np.array(["a", "b"] * 20, dtype=object)
    roles = np.array(["train"] * 30 + ["test"] * 10, dtype=object)
    vectors = rng.normal(size=(40, 4)) + (kinds == "b")[:, None] * 10
    texts = {"query_id": [f"q{i}" for i in range(40)], "role": roles, "type": kinds}
    index = np.where(roles == "train", np.arange(40), -1).astype(np.int32)
    queries = pa.table(texts | {"train_index": index, "vector": list_column(vectors)})
    apart = ((vectors[:, None] - vectors[:30]) ** 2).sum(axis=2)
    nearest = np.argsort(apart, axis=1).astype(np.int32)
    lists = {"neighbours": list_column(nearest)}
    neighbours = pa.table({"query_id": texts["query_id"], "role": roles} | lists)
    origin = pa.array(["types known in the data"] * 40)
    classes = pa.table(
        {"query_id": texts["query_id"], "role": roles, "class": kinds}
        | dict.fromkeys(("guess", "guess_documents"), kinds)
        | {"origin": origin}
    )
    return {
        "queries": ("queries", queries),
        "neighbours": ("neighbours", neighbours),
        "classes": (CLASSES_SHAPE, classes),
    }


def test_figure_1_measures_locality(tmp_path):
    table = drawn_twice(tmp_path, figures.draw_queries, **made_queries())
    share = table.column("same_class_among_first_k").to_numpy()
    assert share[0] == 1
    assert share[29] == pytest.approx(0.5)
    assert table.column("chance")[0].as_py() == pytest.approx(0.5)


def test_figure_1_has_no_panel_that_is_true_by_construction_and_cuts_no_point(tmp_path, monkeypatch):
    made = made_queries()
    classes = made["classes"][1]
    origin = pa.array([f"2 {K_MEANS} of query vectors"] * len(classes))
    made["classes"] = (CLASSES_SHAPE, classes.set_column(classes.column_names.index("origin"), "origin", origin))
    made_figures = []
    real = figures.new_figure
    monkeypatch.setattr(
        figures, "new_figure", lambda *args, **options: made_figures.append(real(*args, **options)) or made_figures[-1]
    )
    table = drawn_twice(tmp_path, figures.draw_queries, **made)
    assert "same_class_among_first_k" not in table.column_names
    (axes,) = made_figures[0][0].axes
    for name, (low, high) in (("component_1", axes.get_xlim()), ("component_2", axes.get_ylim())):
        assert low < min(table.column(name).to_pylist())
        assert max(table.column(name).to_pylist()) < high


def test_a_bound_of_nothing_says_so(tmp_path):
    rows = [{"fold": "fold1", "method": "knn-offline1", "k": 3, "bound": 0.0, "observed": 0.0}]
    write(tmp_path / "bounds.parquet", "figure", pa.Table.from_pylist(rows))
    figure, _ = figures.draw_bound(Inputs({"bounds": [str(tmp_path / "bounds.parquet")]}), SHOWN)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts] + [
        text.get_text() for text in figure.texts
    ]
    assert any("Every change ratio is 0" in text for text in texts), texts
    assert not any(axes.has_data() for axes in figure.axes)


@pytest.mark.parametrize("bounds", [(1.7e4, 3.2e5), (2e4, 5e4), (1.0, 1e6), (3.0, 40.0)])
def test_labels_of_the_bound_do_not_overlap(tmp_path, bounds):
    rows = [
        {"fold": "fold1", "method": "knn-offline1", "k": k, "bound": b, "observed": 0.1}
        for k, b in zip((3, 6), bounds, strict=True)
    ]
    write(tmp_path / "bounds.parquet", "figure", pa.Table.from_pylist(rows))
    figure, _ = figures.draw_bound(Inputs({"bounds": [str(tmp_path / "bounds.parquet")]}), SHOWN)
    figure.draw_without_rendering()
    labels = [label for label in figure.axes[0].get_xticklabels(which="both") if label.get_text()]
    boxes = sorted((label.get_window_extent().x0, label.get_window_extent().x1) for label in labels)
    assert boxes
    assert all(right < left for (_, right), (left, _) in pairwise(boxes))


def test_a_curve_puts_folds_together():
    found = curve(along_k(made_values().to_pandas()), "knn-online", "ndcg@10/geng")
    assert found.shape == (60, 3)
    assert found.columns[-1][1] == 1


def test_many_intervals_agree_with_the_single_one():
    from scipy.stats import bootstrap

    values = np.random.default_rng(6).random((80, 3))
    low, high = column_intervals(values, level=0.95, resamples=4000, seed=1)
    one = bootstrap((values[:, 1],), np.mean, n_resamples=4000, method="percentile", rng=2).confidence_interval
    assert low[1] == pytest.approx(one.low, abs=0.005)
    assert high[1] == pytest.approx(one.high, abs=0.005)


def test_classes_without_a_classifier_have_no_f1():
    rows = [
        {"query_id": f"q{i}", "role": "test", "class": "ab"[i % 2], "guess": "a", "guess_documents": "b"}
        for i in range(4)
    ]
    known = pa.Table.from_pylist([r | {"origin": "types known"} for r in rows])
    none = pa.Table.from_pylist([r | {"origin": f"K-means; {NO_CLASSIFIER}"} for r in rows])
    found = classes_table({"fold1": known, "fold2": none}).pipe(table_of).to_pylist()
    assert found[0]["accuracy"] == 0.5
    assert found[0]["F1"] == pytest.approx(1 / 3)
    assert [row["F1"] is None for row in found] == [False, False, True, False]
    assert [row["QC sees"] for row in found[:2]] == ["the query", "its top documents"]


def test_variants_are_compared_with_knn_online():
    rows = [
        {"fold": "fold1", "method": m, "query_id": f"q{i}", "mean_ndcg/geng": i / 10 + (m != "KNN Online") / 10}
        | {"neighbours": 3.0, "models": 5.0, "work": 1.5, "same": 1.0}
        for m in ("KNN Online", "metric: cosine")
        for i in range(8)
    ]
    table = variants_table(pd.DataFrame(rows), INTERVAL).to_dict("records")
    assert [r["difference from KNN Online"] for r in table] == pytest.approx([0, 0.1])
    assert table[1]["million pair visits per fold"] == 1.5
