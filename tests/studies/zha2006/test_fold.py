"""What is computed of a fold: choices on validation alone, equal budgets, limits that are exact, maps that belong."""

from itertools import pairwise
from math import prod

import numpy as np
import pyarrow as pa
import pytest
from tests.studies.zha2006.world import OPTIONS, PAPER, copies, fitter, rows_of, run, tables, values

from qdrank.errors import InputError
from qdrank.evaluation.measuring import measure_scores
from qdrank.layout import query_offsets
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.choose import fit_seed
from qdrank.measures.compute import measure
from qdrank.rankers.served import read_ranker
from qdrank.store import read, write
from qdrank.studies.zha2006.fits import dcg, resolved, setting_of, target_values, values_of_trees
from qdrank.studies.zha2006.fold import cells_table, maps_table
from qdrank.studies.zha2006.methods import (
    FITTED_KINDS,
    KERNEL_METHODS,
    METHODS,
    Options,
    is_refitted,
    method_name,
    refit_kind,
)
from qdrank.studies.zha2006.settings import Zha
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE

BOTH = pytest.mark.parametrize("h", ["ridge", "trees"])


def test_targets_and_gains_by_name():
    grades = np.array([0, 1, 2, 3, 4])
    np.testing.assert_array_equal(target_values("grades", grades, 4), grades)
    np.testing.assert_array_equal(target_values("exp", grades, 4), [0, 1, 3, 7, 15])
    np.testing.assert_array_equal(target_values("zha", grades, 4), [0, 0.5, 3, 7, 10])
    assert [resolved("auto", highest) for highest in (1, 2, 4, 5)] == ["exp", "exp", "zha", "exp"]
    assert dcg("auto", 4) == "dcg@5/zha"
    assert dcg("grades", 4, 10) == "dcg@10/linear"
    with pytest.raises(InputError, match="grades 0 to 4"):
        target_values("zha", grades, 7)


@BOTH
def test_every_method_has_scores_of_the_test_documents(h):
    for kind in FITTED_KINDS:
        fits = run().scores[method_name(h, kind)]
        assert {len(one) for one in fits} == {run().test.n_documents}
        assert len(fits) == (OPTIONS.refits if is_refitted(h, kind) else 1), kind


def test_measures_have_the_fits_that_the_claims_have(tmp_path):
    """General tables read `measures`: the means of its fits are those of the study's own table of cells."""
    key, measured = ("fold1", method_name("trees", "atvt")), run().measure
    out = {of + key[1]: str(tmp_path / f"{of}.parquet") for of in ("", "served_", "refits_")}
    run().write(out)
    files, again = ({key: out[of + key[1]]} for of in ("", "refits_"))
    measures = measure_scores([measured], copies()[0], files, ["fold1"], again)
    by_fit = measures.to_pandas().pivot(index="query_id", columns="fit", values=measured)
    expected = [values(tables()[0], "trees", refit_kind("atvt", i)).value.mean() for i in range(OPTIONS.refits)]
    np.testing.assert_allclose(by_fit.mean(), expected, rtol=1e-12)
    assert [method.name for method in METHODS if method.refitted] == [
        method_name("trees", kind) for kind in FITTED_KINDS if kind != "unweighted"
    ]
    stored = read_ranker(out["served_" + key[1]]).ranker
    np.testing.assert_array_equal(stored.predict(*run().views[""].parts["test"]), run().scores[key[1]][0])


@BOTH
def test_plain_regression_chooses_among_as_many_settings_as_atvt(h):
    method = np.array([row["method"] for row in run().choices])
    plain, atvt, centred = ((method == f"zha-{h}-{kind}").sum() for kind in ("plain", "atvt", "centred"))
    assert plain == len(OPTIONS.cells) + 2
    assert abs(plain - atvt) <= 1
    assert abs(centred - plain) <= 1


@BOTH
def test_validation_chooses(h):
    for kind in ("plain", "atvt", "l1", "scale", "centred"):
        rows = [row for row in run().choices if row["method"] == f"zha-{h}-{kind}"]
        chosen = [row for row in rows if row["chosen"]]
        assert len(chosen) == 1
        assert chosen[0]["value"] == max(row["value"] for row in rows)
    data, chosen = run().options[h].data, run().made[f"zha-{h}-plain"]
    judged = data.parts["vali"].judged
    scores = chosen.learner.predict(judged.X)
    value = measure([data.measure], judged.y, scores, judged.offsets)[data.measure].mean()
    row = next(row for row in run().choices if row["method"] == f"zha-{h}-plain" and row["chosen"])
    assert row["value"] == data.validation.mean(scores)
    if h == "ridge":  # ties are shuffled on validation, and few trees tie many documents
        assert row["value"] == pytest.approx(value, rel=0.02)


def test_trees_are_stopped_where_validation_is_best():
    trees = fitter("trees")
    data = trees.data
    setting = {"leaves": 7, "min_leaf": 10, "learning_rate": 1.0}
    train, X = data.parts["train"], data.parts["vali"].judged.X
    whole = ATVT(**trees.fixed() | setting | {"rounds": 0}).fit(train.judged.X, train.targets, train.judged.query)
    by_count = [whole.booster.predict(X, num_iteration=m, num_threads=1) for m in range(1, OPTIONS.trees + 1)]
    each = [whole.booster.predict(X, start_iteration=i, num_iteration=1) for i in range(OPTIONS.trees)]
    np.testing.assert_array_equal(values_of_trees(whole.booster, X), np.transpose(each))
    means = [data.validation.mean(scores) for scores in by_count]
    best = int(np.argmax(means))
    assert means[best] > means[0]
    fit = trees.plain(**setting)
    assert fit.learner.booster.num_trees() == best + 1
    assert fit.watched == means[best]
    for role in ("train", "vali", "test"):  # to the last bit, however they were found
        by_lightgbm = whole.booster.predict(data.parts[role].judged.X, num_iteration=best + 1, num_threads=1)
        np.testing.assert_array_equal(fit.scores(role), by_lightgbm)


@BOTH
def test_every_side_has_about_as_many_settings(h):
    fits = fitter(h)
    grid = fits.pairwise_grid({"lam": [1.0, 0.01]})
    sides = {"plain": len(fits.dense_settings()), "pairwise": prod(len(values) for values in grid.values())}
    sides["atvt"] = len(fits.search(fits.settings()[0], OPTIONS.cells)) + 1
    assert sides == dict.fromkeys(sides, fits.budget)
    if h == "trees":
        assert (grid["rounds"], grid["leaves"], grid["min_leaf"]) == ([OPTIONS.trees], OPTIONS.leaves, OPTIONS.min_leaf)


def test_with_the_default_options_trees_of_every_side_choose_from_as_many_settings():
    trees = fitter("trees", Options(**Zha().computed(), refits=1, usual={}))
    dense, settings = trees.dense_settings(), trees.settings()
    of_lambdamart = prod(len(values) for values in trees.pairwise_grid({}).values())
    assert len(dense) == of_lambdamart == 16
    # aTVT: all penalties at the setting that plain trees chose, then every other setting.
    tried = {len(trees.options.cells) + len([one for one in settings if one != start]) for start in dense}
    assert tried == {16, 17}
    for name in ("leaves", "min_leaf", "learning_rate"):
        offered, plain = ({one[name] for one in side} for side in (settings, dense))
        assert len(offered) > 1
        assert (min(offered), max(offered)) == pytest.approx((min(plain), max(plain)))


@BOTH
def test_cells_are_what_a_fit_by_hand_gives(h):
    cells, maps, *_ = tables()
    fits, setting = fitter(h), setting_of(run().made[method_name(h, "plain")])
    data, (train, test) = fits.data, (fits.data.parts[role] for role in ("train", "test"))
    options = fits.fixed() | setting | {"lam_alpha": PAPER[0], "lam_beta": PAPER[1]}
    model = ATVT(**options).fit(train.judged.X, train.targets, train.judged.query)
    if h == "trees":
        fit = fits.fit(**setting, norm="l2", lam_alpha=PAPER[0], lam_beta=PAPER[1])
        model.keep_trees(fit.learner.booster.num_trees())
    expected = measure([data.measure], test.judged.y, model.predict(test.judged.X), test.judged.offsets)[data.measure]
    by_id = dict(zip(test.judged.query_id.tolist(), expected.tolist(), strict=True))
    found = values(cells, h, "grid", PAPER)
    np.testing.assert_allclose(found.value, [by_id[query] for query in found.query_id])
    own = rows_of(maps, PAPER, "train", h=h, kind="grid")
    alpha = dict(zip(train.judged.query_id.tolist(), model.alpha_.tolist(), strict=True))
    np.testing.assert_allclose(own.alpha, [alpha[query] for query in own.query_id])


@BOTH
def test_the_limit_is_the_plain_regressor_exactly(h):
    cells, *_ = tables()
    assert (values(cells, h, "limit scores").value == 0).all()
    np.testing.assert_array_equal(values(cells, h, "limit").value, values(cells, h, "plain").value)


def test_test_maps_are_the_best_for_the_test_grades():
    fits = fitter("ridge")
    fit = fits.fit(lam_h=1.0, norm="l2", lam_alpha=10.0, lam_beta=1.0)
    part = fits.data.parts["test"]
    again = fit.learner.maps(part.judged.X, part.targets, part.judged.query)
    np.testing.assert_allclose(fits.maps(fit, "test"), again)


def test_varied_queries_have_documents_of_different_grades():
    part = fitter("ridge").data.parts["test"]
    offsets = query_offsets(part.judged.query)
    expected = [len(set(part.judged.y[a:b])) > 1 for a, b in pairwise(offsets)]
    assert part.varied.tolist() == expected


def test_refits_differ_and_repeat():
    again, train = fitter("trees"), run().views[""].parts["train"]
    for kind in ("plain", "atvt", "fixed"):
        found = run().scores[method_name("trees", kind)]
        for number in range(1, OPTIONS.refits):
            by_hand = again.refit(run().made[method_name("trees", kind)].params, number)
            np.testing.assert_array_equal(found[number], by_hand.scores("test"))
            stored = run().made[method_name("trees", kind)].again(fit_seed(1, number), train)
            np.testing.assert_array_equal(found[number], stored.scores("test"))
        assert (found[1] != found[2]).any()


def test_maps_of_further_fits_stand_beside_the_plain_trees_of_the_same_targets():
    noisy = run("trees", jitter=1.0)
    cells, maps = cells_table(noisy, "trees"), maps_table(noisy, "trees")
    plain = [values(cells, "trees", refit_kind("plain", number)).value for number in range(OPTIONS.refits)]
    assert all((one != plain[0]).any() for one in plain[1:])
    for number in range(1, OPTIONS.refits):
        np.testing.assert_array_equal(values(maps, "trees", refit_kind("fixed", number)).plain, plain[number])


def test_tables_fit_their_shapes(tmp_path):
    for shape, table in zip((CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE, "choices"), tables(), strict=True):
        write(tmp_path / "t.parquet", shape, table)
        assert read(tmp_path / "t.parquet", shape).num_rows == table.num_rows


def test_objectives_of_ridge_never_rise():
    _, _, objectives, _ = tables()
    own = pa.Table.from_pylist([row for row in objectives.to_pylist() if row["h"] == "ridge"])
    for norm in ("l1", "l2"):
        for form in ("alternation", "newton"):
            curve = [r["value"] for r in own.to_pylist() if r["norm"] == norm and r["form"] == form]
            assert len(curve) > 3
            assert (np.diff(curve) <= 1e-9 * np.array(curve[:-1])).all()


def test_the_kernel_form_chooses_as_ridge_does():
    made, train = run("ridge", "kernel"), run().views[""].parts["train"][0]
    targets = made.options["kernel"].data.parts["train"].targets
    assert [name for name in made.scores if "kernel" in name] == [method.name for method in KERNEL_METHODS]
    assert len([row for row in made.choices if row["method"] == "zha-kernel-plain"]) == fitter("ridge").budget
    plain, atvt = (made.made[f"zha-kernel-{kind}"].learner for kind in ("plain", "atvt"))
    near, exact = (
        ATVT(**plain.get_params() | {"landmarks": n}).fit(train.X, targets, train.query).predict(made.test.X)
        for n in (train.n_documents // 2, train.n_documents)
    )
    assert 0.98 < np.corrcoef(near, exact)[0, 1] < 1
    assert (atvt.alpha_ != 1).any()
