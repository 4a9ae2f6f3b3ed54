"""The study of Hoi and Jin 2008 on a small fold: weights, choices, controls, learning curve, ensembles of methods."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studies.hoi2008.ensemble_fold import HOI, documents, made, part, unrun

from qdrank.errors import InputError
from qdrank.learners import SER, SSER
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.measures.compute import average_precision
from qdrank.rankers.base import OfOthers
from qdrank.rankers.served import OneFeature
from qdrank.rankers.stored import from_state_table, state_table
from qdrank.serving.ranking import kind_of
from qdrank.store.tables import list_matrix
from qdrank.studies.hoi2008.fold import ensemble_run, write_stacked
from qdrank.studies.hoi2008.methods import ON_CURVE, PATHS, SOLVED, STACKED_METHODS, TIES, ensembles, with_ties
from qdrank.studies.hoi2008.rankers import EnsembleRanker, StackedRanker, as_rankers
from qdrank.studies.hoi2008.tables import _along

PATH = [0.0, 0.5, 2.0]


def rows(table, **where):
    for name, value in where.items():
        table = table.filter(pc.equal(table.column(name), value))
    return table


def query_rows(judged, query):
    return judged.X[judged.offsets[query] : judged.offsets[query + 1]].astype(np.float64)


def test_weights_are_those_of_the_estimators():
    run, solved, *_ = made()
    train, test = (run.views[""].parts[role][0] for role in ("train", "test"))
    judged = (train.X, train.y, train.query)
    for ties in TIES:
        ser, sser = SER(ties=ties).fit(*judged), SSER(ties=ties, gamma=2.0).fit(*judged)
        assert rows(solved, method=with_ties("ser", ties)).column("weights")[0].as_py() == ser.weights_.tolist()
        own = rows(solved, method=with_ties("sser", ties), role="test", gamma=2.0)
        for query, w in enumerate(list_matrix(own.column("weights"))):
            np.testing.assert_allclose(w, sser.weights_for(query_rows(test, query)), atol=1e-12)


def test_every_program_has_its_certificates():
    _, solved, *_ = made()
    assert set(solved.column("method").to_pylist()) == {with_ties(name, ties) for ties in TIES for name in SOLVED}
    assert max(solved.column("gap").to_pylist()) <= 1e-8
    assert max(solved.column("kkt").to_pylist()) <= 1e-8
    assert len(rows(solved, method="sser")) == (8 + 12) * len(PATH)


def test_constant_rankers_have_weight_in_file_order_alone():
    run, solved, *_ = made()
    assert run.made["ser-varying"].mask.tolist() == [1] * 5 + [0]
    last = {name: rows(solved, method=name).column("weights")[0].as_py()[-1] for name in ("ser", "ser-varying-file")}
    assert last == {"ser": 0.0, "ser-varying-file": 0.0}


@pytest.mark.parametrize("method", ["sser", "sser-tuned-file", "sser-printed", "sser-other"])
def test_scores_are_those_of_every_query_s_weights_for_the_chosen_gamma(method):
    run, *_ = made()
    train, test = (run.views[""].parts[role][0] for role in ("train", "test"))
    control = run.made[method]
    ensemble = control.base if isinstance(control, OfOthers) else control
    learner = SSER(**ensemble.learner.get_params() | {"gamma": ensemble.gamma}).fit(train.X, train.y, train.query)
    shown = control.others(test) if isinstance(control, OfOthers) else range(test.n_queries)
    weights = [learner.weights_for(query_rows(test, int(query))) for query in shown]
    expected = [rounded_scores(query_rows(test, query), w) for query, w in enumerate(weights)]
    np.testing.assert_allclose(run.scores[method][0], np.concatenate(expected), atol=1e-9)


def test_settings_chosen_are_the_best_on_validation():
    run, *_ = made()
    choices = pa.Table.from_pylist(run.choices)
    for method in ensembles():
        tried = rows(choices, method=method).to_pylist()
        (chosen,) = [row for row in tried if row["chosen"]]
        assert chosen["value"] == max(row["value"] for row in tried)
        assert len(tried) == (3 if method.removesuffix("-file") in PATHS else 4 if "tuned" in method else 1)
    (chosen,) = rows(choices, method="ser-tuned", chosen=True).to_pylist()
    settings = {key: float(value) for key, value in (text.split("=") for text in chosen["setting"].split(", "))}
    assert settings.keys() == {"C", "delta"}  # of theta one value was tried
    assert {name: getattr(run.made["ser-tuned"].learner, name) for name in settings} == settings


def test_every_gamma_is_measured():
    run, *_ = made()
    values, test = pa.concat_tables(run.values), run.test
    for method in (with_ties(name, ties) for name in PATHS for ties in TIES):
        own = rows(values, method=method)
        assert own.column("x").to_pylist() == [gamma for gamma in PATH for _ in range(test.n_queries)]
    scores = run.made["sser"].at(2.0).predict(test, np.zeros((test.n_queries, 0)))
    own = rows(values, method="sser", x=2.0)
    np.testing.assert_allclose(own.column("ap").to_numpy(), average_precision(test.y, scores, test.offsets))
    assert own.column("query_id").to_pylist() == test.query_id.tolist()


def test_controls_are_drawn_again_and_nothing_else_is():
    run, *_ = made()
    assert {name for name, fits in run.scores.items() if len(fits) > 1} == {
        with_ties(name, ties) for name in ("sser-other", "sser-other-fixed") for ties in TIES
    }
    first, second = run.scores["sser-other"]
    assert (first != second).any()


def test_the_learning_curve_ends_at_the_methods_themselves():
    *_, measures, curve = made()
    assert set(curve.column("x").to_pylist()) == {5, 10, 0}
    assert set(curve.column("method").to_pylist()) == set(ON_CURVE)
    for method, same in (("ser", "ser"), ("sser", "sser-fixed")):
        own = rows(curve, method=method, x=0.0).column("ap").to_pylist()
        assert own == rows(measures, method=same).column("ap").to_pylist()


def test_an_ensemble_of_methods_is_ser_of_their_scores():
    bases, given = [OneFeature(column=i) for i in range(3)], {"measure": "ap", "seed": 1}
    names = [f"feature {i}" for i in range(3)]
    run = ensemble_run("fold1", documents(), HOI | {"methods": names}, scaled=True, **given)
    run.made.update(zip(names, bases, strict=True))
    scores, test = {name: fits[0] for name, fits in run.run(STACKED_METHODS).scores.items()}, run.test
    seen = {role: documents().seen(role) for role in ("train", "vali", "test")}
    of_methods = {role: as_rankers(seen[role], [seen[role].X[:, i] for i in range(3)]) for role in ("vali", "test")}
    vali, X = of_methods["vali"], of_methods["test"].X
    assert (vali.X.min(), vali.X.max()) == (0, 1)
    ser = SER(max_grade=2).fit(vali.X, vali.y, vali.query)
    np.testing.assert_array_equal(scores["ser-methods"], ser.predict(X))
    sser = SSER(gamma=0.5, max_grade=2).fit(vali.X, vali.y, vali.query)
    np.testing.assert_array_equal(scores["sser-methods"], sser.predict(X, test.query))
    first = slice(0, test.offsets[1])
    own = test.X[first, :3]
    points = [[(own < row).sum() + ((own == row).sum() - 3) / 2] for row in own]  # a tied document is half below
    np.testing.assert_allclose(scores["borda-methods"][first], np.ravel(points))
    again = StackedRanker(bases=bases, kind="ser", learner=SSER(gamma=0.5, max_grade=2))
    again.fit(seen["train"], np.zeros((25, 0)), (seen["vali"], np.zeros((8, 0))))
    np.testing.assert_array_equal(again.predict(test, np.zeros((12, 0))), scores["ser-methods"])


def test_rankers_of_new_queries_give_the_scores_of_the_study():
    run, *_ = made()
    assert run.made.keys() == run.scores.keys()
    for method, ranker in run.made.items():
        stored = from_state_table(state_table(ranker), kind_of)
        found = stored.predict(run.test, np.zeros((run.test.n_queries, 0)))
        np.testing.assert_array_equal(found, run.scores[method][0], err_msg=method)


def test_what_a_mask_hides_counts_for_nothing():
    run = unrun()
    (train, vectors), (test, of_test) = (run.views[""].parts[role] for role in ("train", "test"))
    mask = np.array([1.0, 1, 0, 1, 1, 1])
    masked = EnsembleRanker(learner=SSER(), gammas=PATH, gamma=2.0, mask=mask).fit(train, vectors)
    fewer = [documents.with_features((documents.X * mask).astype(np.float32)) for documents in (train, test)]
    without = EnsembleRanker(learner=SSER(), gammas=PATH, gamma=2.0).fit(fewer[0], vectors)
    np.testing.assert_allclose(masked.predict(test, of_test), without.predict(fewer[1], of_test), atol=1e-9)


def test_without_validation_queries_no_ensemble_of_methods_is_learned(tmp_path, monkeypatch):
    of = documents()
    of.parts["vali"] = of.parts["vali"].take(np.empty(0, dtype=np.int64))
    monkeypatch.setattr("qdrank.studies.hoi2008.fold.load_fold", lambda *_, **__: of)
    with pytest.raises(InputError, match="no validation queries"):
        write_stacked({"judged": ""}, {}, "fold1", scale="given", hoi=HOI)


def test_the_path_holds_0_and_the_fixed_gamma():
    hoi = HOI | {"gammas": (2, 1)}
    assert ensemble_run("fold1", documents(), hoi, measure="ap", seed=1).options.path == [0, 0.5, 1, 2]


def test_grades_of_a_subset_keep_the_scale_of_the_fold():
    assert unrun().options.max_grade == part("train", 1).y.max() == 2


GAMMAS, QUERIES = (0.0, 0.5, 2.0), ("q10", "q2", "q9")
ROWS = [
    {"method": method, "fold": f"f{query[1]}", "query_id": query, "x": gamma, "ap": i + 10 * j + 100 * k}
    for i, method in enumerate(("sser", "ser"))
    for j, query in enumerate(QUERIES)
    for k, gamma in enumerate(GAMMAS)
]


@given(st.permutations(ROWS))
@settings(max_examples=20)
def test_a_curve_does_not_depend_on_the_order_of_the_rows(rows):
    along = _along(pd.DataFrame(rows), "sser")
    assert along.columns.tolist() == list(GAMMAS)
    assert along.index.tolist() == [("q10", "f1"), ("q2", "f2"), ("q9", "f9")]
    np.testing.assert_array_equal(along, [[10 * j + 100 * k for k in range(3)] for j in range(3)])


def test_repeats_of_a_size_are_averaged():
    sizes = ((5, 0.1), (5, 0.3), (0, 0.9), (20, 0.4))
    rows = [{"method": "ser", "fold": "f", "query_id": "q", "x": float(size), "ap": ap} for size, ap in sizes]
    along = _along(pd.DataFrame(rows), "ser")
    assert along.columns.tolist() == [0, 5, 20]
    np.testing.assert_allclose(along, [[0.9, 0.2, 0.4]])
