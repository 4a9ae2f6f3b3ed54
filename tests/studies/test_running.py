"""The runner of a fold on toy methods: what it chooses, fits again, measures and writes, against plain loops."""

import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rankers.query_world import world

from qdrank.learners.choose import fit_seed
from qdrank.measures.compute import average_precision
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.one_model import LinearRanker
from qdrank.rankers.served import OneFeature
from qdrank.store import read
from qdrank.store.schemas import SHAPES, Shape
from qdrank.studies.running import FoldRun, View, setting_texts, subsets
from qdrank.studies.study import Keys, Method


@dataclass(kw_only=True, eq=False)
class Noise(QueryRanker):
    """Random scores, and the seeds that were drawn with."""

    NAME: ClassVar[str] = "noise"
    SEEDS: ClassVar[tuple[str, ...]] = ("seed",)

    seed: int = 1

    def fit(self, train, vectors, validation=None):
        return self

    def predict(self, documents, vectors):
        return np.random.default_rng(self.seed).random(documents.n_documents)


def method(name, tries=None, **more):
    return Method(name, name, "black", "o", tries=tries, **more)


METHODS = (
    method("column", lambda _: [OneFeature(column=i) for i in range(4)], shown=lambda _, one: {7.0: one, 8.0: LAST}),
    method("linear", lambda _: [LinearRanker(lam=lam) for lam in (1.0, 0.1)]),
    method("built", lambda run: [run.made["column"]]),
    method("noise", lambda run: [Noise(seed=run.seed)], refitted=True),
    method("blind", lambda run: [Noise(seed=run.seed + 1)], refitted=True, control_of="column"),
    method("best", same_as=lambda run: run.best(["column", "noise"]), refitted=True),
    method("control of the best", same_as=lambda run: {"column": "blind"}[run.same["best"]], control_of="best"),
)
LAST = OneFeature(column=3)


def fold_run(seed=1, vali=12, refits=3):
    parts = {role: world(seed + i, n)[0] for i, (role, n) in enumerate({"train": 9, "vali": vali, "test": 10}.items())}
    documents = FoldDocuments(parts, np.zeros(4), np.ones(4))
    return FoldRun("fold1", {"": View.of(documents)}, None, measure="ap", seed=seed, refits=refits)


def mean_ap(part, scores):
    """Documents of equal score do not occur."""
    return float(np.mean(average_precision(part.y, scores, part.offsets)))


@given(st.integers(0, 30), st.booleans())
@settings(max_examples=10, deadline=None)
def test_the_first_of_the_best_on_validation_is_chosen_on_training_where_there_is_none(seed, validated):
    run = fold_run(seed, 12 if validated else 1)
    if not validated:
        run.views[""].parts["vali"] = (run.test.take(np.empty(0, dtype=np.int64)), np.zeros((0, 0)))
    run.run(METHODS[:3])
    part = run.views[""].parts["vali" if validated else "train"][0]
    values = [mean_ap(part, part.X[:, i]) for i in range(4)]
    assert run.made["column"].column == int(np.argmax(np.round(values, 12)))
    rows = [row for row in run.choices if row["method"] == "column"]
    assert [row["setting"] for row in rows] == [f"column={i}" for i in range(4)]
    np.testing.assert_allclose([row["value"] for row in rows], values)
    assert [row["chosen"] for row in rows].index(True) == run.made["column"].column
    assert run.made["built"] is run.made["column"]  # fitted, it stays as it is
    assert next(row["setting"] for row in run.choices if row["method"] == "built") == ""


def test_what_draws_is_fitted_again_with_the_seeds_of_the_fits():
    run, n = fold_run(refits=3).run(METHODS), fold_run().test.n_documents
    for fit, scores in enumerate(run.scores["noise"]):
        np.testing.assert_array_equal(scores, np.random.default_rng(fit_seed(1, fit)).random(n))
    assert {name: len(fits) for name, fits in run.scores.items()} == {
        **dict.fromkeys(("column", "linear", "built"), 1),
        **dict.fromkeys(("noise", "blind", "best", "control of the best"), 3),
    }


def test_a_method_that_is_another_has_its_ranker_and_its_scores():
    run = fold_run().run(METHODS)
    assert run.same == {"best": "column", "control of the best": "blind"}
    assert run.made["best"] is run.made["column"]
    assert all(one is run.scores["column"][0] for one in run.scores["best"])
    assert [row["setting"] for row in run.choices if row["method"] == "best"] == ["column"]


def test_controls_and_what_is_shown_are_measured_by_query():
    run = fold_run().run(METHODS)
    rows, test = pa.concat_tables(run.values).to_pylist(), run.test
    found = {}
    for row in rows:
        found.setdefault((row["method"], row["fit"], row["x"]), {})[row["query_id"]] = row["ap"]
    scores = {("blind", fit, None): one for fit, one in enumerate(run.scores["blind"])}
    scores |= {("control of the best", *key[1:]): one for key, one in scores.items()}
    scores |= {("column", 0, 7.0): run.scores["column"][0], ("column", 0, 8.0): test.X[:, 3]}
    assert found.keys() == scores.keys()
    for key, one in scores.items():
        assert list(found[key]) == test.query_id.tolist()
        np.testing.assert_allclose(list(found[key].values()), average_precision(test.y, one, test.offsets))


def test_what_has_a_file_is_written(tmp_path):
    names = ["column", "served_column", "best", "served_best", "refits_best", "choices", "values"]
    out = {name: str(tmp_path / f"{name}.parquet") for name in names}
    run = fold_run(refits=2).run(METHODS)
    run.write(out)
    np.testing.assert_array_equal(read(out["column"], "scores").column("score"), run.scores["column"][0])
    np.testing.assert_array_equal(read(out["refits_best"], "refits").column("score"), run.scores["best"][1])
    assert len(read(out["choices"], "choices")) == len(run.choices)
    assert read(out["values"], "values").column_names == ["fold", "method", "role", "fit", "x", "query_id", "ap"]
    assert {path.stem for path in tmp_path.iterdir()} == set(names)


@pytest.mark.parametrize(
    ("tried", "texts"),
    [
        ([{"k": 5, "base.lam": 0.10}, {"k": 5, "base.lam": 1.0}], ["lam=0.1", "lam=1"]),
        ([{"k": 5}, {"name": "x"}], ["k=5", "name=x"]),
        ([{"k": 5}], [""]),
    ],
)
def test_a_setting_is_called_by_what_differs(tried, texts):
    assert setting_texts(tried) == texts


def test_subsets_are_nested_and_end_with_all():
    found = {(size, repeat): set(rows.tolist()) for size, repeat, rows in subsets(30, [10, 5, 50], 3, seed=2)}
    assert set(found) == {(5, 0), (5, 1), (5, 2), (10, 0), (10, 1), (10, 2), (0, 0)}
    assert all(found[5, repeat] < found[10, repeat] for repeat in range(3))
    assert found[5, 0] != found[5, 1]
    assert found[0, 0] == set(range(30))


class Options(Keys):
    @property
    def doubled(self) -> int:
        return 2 * self.k


def test_keys_are_given_by_name_and_cannot_be_changed() -> None:
    options = Options(k=3, lam=0.1)
    assert (options.k, options.doubled) == (3, 6)
    assert options == Options(k=3, lam=0.1) != Options(k=3, lam=0.2)
    with pytest.raises(AttributeError, match="k is given by the configuration"):
        options.k = 4


def test_a_key_that_the_rule_did_not_give_is_named() -> None:
    with pytest.raises(AttributeError, match="not given the key k"):
        _ = Options(lam=0.1).k


def test_a_copy_has_other_values() -> None:
    options = Options(k=3, lam=0.1)
    assert options.model_copy(update={"k": 4}) == Options(k=4, lam=0.1)
    assert options.k == 3


@pytest.mark.parametrize(
    "module",
    ["geng2008.methods", "zha2006.methods", "lin2011.methods", "hoi2008.rankers", "beyond.options", "hybrid.fold"],
)
def test_options_load_no_pydantic(module: str) -> None:
    code = f"import qdrank.studies.{module}, sys; print('pydantic' in sys.modules)"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "False"


def study_shapes(project: Path) -> list[Shape]:
    files = sorted((project / "src" / "qdrank" / "studies").glob("*/*.py"))
    own = [path for path in files if "_SHAPE = Shape(" in path.read_text()]
    modules = [import_module(f"qdrank.studies.{path.parent.name}.{path.stem}") for path in own]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Shape)]


def test_a_kind_of_artifact_has_one_shape(project: Path) -> None:
    shapes = [*SHAPES.values(), *study_shapes(project)]
    assert len({shape.name for shape in shapes}) == len(shapes) > len(SHAPES)
    for shape in shapes:
        assert shape.nullable <= set(shape.columns), shape.name
