"""The study of Hoi and Jin 2008 on a small fold: weights in shards, choices, controls, learning curve, ensembles of methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest
from tests.studies.hoi2008.ensemble_fold import OPTIONS, fold, made, part, weights

from qdrank.errors import InputError
from qdrank.learners import SER, SSER
from qdrank.learners.ensemble.ser import rounded_scores
from qdrank.measures import average_precision
from qdrank.rankers.reference import OneFeature
from qdrank.rankers.state import from_state_table
from qdrank.serving.loading import kind_of
from qdrank.store import write
from qdrank.store.lists import list_matrix
from qdrank.studies.hoi2008 import scoring
from qdrank.studies.hoi2008.fold import shard_range, solve_shard
from qdrank.studies.hoi2008.learning_curve import subsets
from qdrank.studies.hoi2008.methods import ON_CURVE, SOLVED, TIES, ensembles, with_ties
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.rankers import StackedRanker, as_rankers, query_rows
from qdrank.studies.hoi2008.scoring import WeightBank, score_fold
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.hoi2008.stacking import stacked_rankers


def rows(table, **where):
    for name, value in where.items():
        table = table.filter(pc.equal(table.column(name), value))
    return table


@pytest.mark.parametrize("n_shards", [1, 3, 40])
def test_the_number_of_shards_changes_no_bit(n_shards):
    of, solved, *_ = made()
    assert weights(of, n_shards).equals(solved)


def test_a_fold_that_is_not_divided_is_solved_where_it_is_scored(tmp_path, monkeypatch):
    of, shard = fold(), tmp_path / "1-of-1.parquet"
    monkeypatch.setattr(scoring, "load_ensemble_fold", lambda *_: of)
    write(shard, ENSEMBLES_SHAPE, solve_shard(of, shard=0, n_shards=1))
    names = ["weights", "sweep", "choices", *ensembles(), *(f"served_{name}" for name in ensembles())]
    made = {}
    for shards in ([shard], []):
        out = {name: str(tmp_path / f"{name}.parquet") for name in names}
        scoring.write_scores({"judged": "", "shards": shards}, out, "fold1", log=lambda *_: None)
        made[len(shards)] = {name: Path(path).read_bytes() for name, path in out.items()}
    assert made[1] == made[0]


def test_shards_are_all_queries_once():
    for n_shards in (1, 2, 5, 9):
        assert [q for shard in range(n_shards) for q in shard_range(7, shard, n_shards)] == list(range(7))


def test_weights_are_those_of_the_estimators():
    of, solved, *_ = made()
    train, test = of.documents.parts["train"], of.documents.parts["test"]
    judged = (train.X, train.y, train.query)
    for ties in TIES:
        ser, sser = SER(ties=ties).fit(*judged), SSER(ties=ties, gamma=2.0).fit(*judged)
        assert rows(solved, method=with_ties("ser", ties)).column("weights")[0].as_py() == ser.weights_.tolist()
        own = rows(solved, method=with_ties("sser", ties), role="test", gamma=2.0)
        for query, w in enumerate(list_matrix(own.column("weights"))):
            np.testing.assert_allclose(w, sser.weights_for(query_rows(test, query)), atol=1e-12)


def test_every_method_has_its_rows_and_its_certificates():
    of, solved, *_ = made()
    assert set(solved.column("method").to_pylist()) == {with_ties(name, ties) for ties in TIES for name in SOLVED}
    assert max(solved.column("gap").to_pylist()) <= 1e-8
    assert max(solved.column("kkt").to_pylist()) <= 1e-8
    assert len(rows(solved, method="sser")) == (8 + 12) * len(of.options.path)
    assert len(rows(solved, method="sser-other")) == (8 + 12) * len(of.options.path)


def test_gamma_0_is_ser_exactly():
    _, solved, *_ = made()
    for ties in TIES:
        ser = np.array(rows(solved, method=with_ties("ser", ties)).column("weights")[0].as_py())
        sser = list_matrix(rows(solved, method=with_ties("sser", ties), gamma=0.0).column("weights"))
        np.testing.assert_array_equal(sser, np.broadcast_to(ser, sser.shape))


def test_constant_rankers_have_weight_in_file_order_alone():
    of, solved, *_ = made()
    assert of.constant().tolist() == [False] * 5 + [True]
    last = {name: rows(solved, method=name).column("weights")[0].as_py()[-1] for name in ("ser", "ser-varying-file")}
    assert last == {"ser": 0.0, "ser-varying-file": 0.0}


def test_another_query_is_another_query():
    of = fold()
    for role in ("vali", "test"):
        others = of.others(role)
        assert (others != np.arange(len(others))).all()
        assert set(others) <= set(range(len(others)))
        np.testing.assert_array_equal(others, of.others(role))


def test_scores_are_those_of_the_chosen_gamma():
    of, solved, scored, *_ = made()
    assert set(scored.scores) == set(ensembles())
    bank, test = WeightBank(solved), of.documents.parts["test"]
    for method in ("sser", "sser-tuned-file", "sser-printed"):
        (chosen,) = rows(scored.choices, method=method, chosen=True).to_pylist()
        gamma = float(chosen["setting"].partition("=")[2])
        W = bank.of(method, test, gamma)
        expected = [rounded_scores(query_rows(test, query), w) for query, w in enumerate(W)]
        np.testing.assert_array_equal(scored.scores[method], np.concatenate(expected))
        tried = rows(scored.choices, method=method).column("value").to_pylist()
        assert chosen["value"] == max(tried)
        assert len(tried) == len(OPTIONS.gammas)


def test_tuned_settings_are_the_best_on_validation():
    of, solved, scored, *_ = made()
    tried = rows(scored.choices, method="ser-tuned").to_pylist()
    assert len(tried) == 4
    (chosen,) = [row for row in tried if row["chosen"]]
    settings = {key: float(value) for key, value in (text.split("=") for text in chosen["setting"].split())}
    assert chosen["value"] == max(row["value"] for row in tried)
    train = of.documents.parts["train"]
    expected = SER(**settings).fit(train.X, train.y, train.query).weights_
    np.testing.assert_array_equal(rows(solved, method="ser-tuned").column("weights")[0].as_py(), expected)


def test_the_sweep_measures_every_gamma():
    of, solved, scored, *_ = made()
    test, bank = of.documents.parts["test"], WeightBank(solved)
    own = rows(scored.sweep, method="sser", role="test", gamma=2.0)
    scores = np.concatenate([rounded_scores(query_rows(test, q), w) for q, w in enumerate(bank.of("sser", test, 2.0))])
    np.testing.assert_allclose(own.column("ap").to_numpy(), average_precision(test.y, scores, test.offsets))
    assert own.column("query_id").to_pylist() == test.query_id.tolist()


def test_without_validation_queries_gamma_is_the_fixed_one():
    of = fold()
    of.documents.parts["vali"] = of.documents.parts["vali"].take(np.empty(0, dtype=np.int64))
    scored = score_fold("fold1", of, WeightBank(weights(of)))
    np.testing.assert_array_equal(scored.scores["sser"], scored.scores["sser-fixed"])
    assert all(row["setting"] == "gamma=0.5" for row in scored.choices.to_pylist())


def test_subsets_are_nested_and_end_with_all():
    found = {(size, repeat): set(rows.tolist()) for size, repeat, rows in subsets(30, [10, 5, 50], 3, seed=2)}
    assert set(found) == {(5, 0), (5, 1), (5, 2), (10, 0), (10, 1), (10, 2), (30, 0)}
    assert all(found[5, repeat] < found[10, repeat] for repeat in range(3))
    assert found[5, 0] != found[5, 1]
    assert found[30, 0] == set(range(30))


def test_the_learning_curve_ends_at_the_methods_themselves():
    _, _, _, measures, curve = made()
    assert set(curve.column("size").to_pylist()) == {5, 10, 0}
    assert set(curve.column("method").to_pylist()) == set(ON_CURVE)
    for method, same in (("ser", "ser"), ("sser", "sser-fixed")):
        own = rows(curve, method=method, size=0).column("ap").to_pylist()
        assert own == rows(measures, method=same).column("ap").to_pylist()


def test_an_ensemble_of_methods_is_ser_of_their_scores():
    documents = fold().documents
    bases, test = [OneFeature(column=i) for i in range(3)], documents.seen("test")
    found = stacked_rankers(documents, bases, OPTIONS)
    scores = {name: ranker.predict(test, np.zeros((test.n_queries, 0))) for name, ranker in found.items()}
    of_methods = {
        role: as_rankers(part, [part.X[:, i] for i in range(3)])
        for role, part in ((role, documents.seen(role)) for role in ("vali", "test"))
    }
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
    none = {role: np.zeros((documents.parts[role].n_queries, 0)) for role in ("train", "vali", "test")}
    again = StackedRanker(bases=bases, kind="ser", learner=SSER(gamma=0.5, max_grade=2))
    again.fit(documents.seen("train"), none["train"], (documents.seen("vali"), none["vali"]))
    np.testing.assert_array_equal(again.predict(test, none["test"]), scores["ser-methods"])


def test_rankers_of_new_queries_give_the_scores_of_the_study():
    of = fold()
    scored, test = score_fold("fold1", of, WeightBank(weights(of))), of.documents.parts["test"]
    assert scored.rankers.keys() == scored.scores.keys()
    for method, ranker in scored.rankers.items():
        stored = from_state_table(ranker.state(), kind_of)
        found = stored.predict(test, np.zeros((test.n_queries, 0)))
        np.testing.assert_array_equal(found, scored.scores[method], err_msg=method)


def test_an_ensemble_of_nothing_is_refused():
    with pytest.raises(InputError, match="methods"):
        stacked_rankers(fold().documents, [], OPTIONS)


def test_the_path_holds_0_and_the_fixed_gamma():
    assert Options(gammas=(2, 1), gamma=0.5).path == [0, 0.5, 1, 2]


def test_grades_of_a_subset_keep_the_scale_of_the_fold():
    assert fold().max_grade == 2
    assert part("train", 1).y.max() == 2
