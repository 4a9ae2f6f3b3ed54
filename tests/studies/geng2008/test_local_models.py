import numpy as np
import pytest
from tests.studies.geng2008.world import GENG, shard, study, world

from qdrank.errors import InputError
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.queries.sizes import Setting, by_lambda, neighbour_count, neighbour_counts
from qdrank.store import write
from qdrank.studies.geng2008.local_models import LOCAL_SHAPE, gathered, neighbourhoods


@pytest.mark.parametrize("n_shards", [3, 7])
def test_the_number_of_shards_changes_no_byte(tmp_path, n_shards):
    ids = world()[2].query_id
    for name, n in (("one", 1), ("many", n_shards)):
        write(tmp_path / name, LOCAL_SHAPE, gathered([shard(i, n) for i in range(n)], ids))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()


def test_a_local_model_is_the_ranking_svm_of_its_neighbours():
    fold = study()
    documents, setting = fold.documents, Setting(7, 0.01)
    train, row = documents.parts["train"], int(fold.rows("test")[2])
    own = train.take(np.sort(world()[3][row, :7]))
    scaled = (own.X.astype(np.float64) - documents.mean) * documents.inverse
    svm = RankSVM(lam=0.01, tol=1e-9).fit(scaled, own.y, own.query)
    found = fold.local.weights("neighbours", setting, fold.queries.query_id[[row]])[0]
    np.testing.assert_allclose(found, documents.stored(svm.coef_), atol=2e-3)


def test_equal_weights_and_random_neighbours_are_other_models():
    fold, setting = study(), Setting(7, 0.01)
    ids = fold.queries.query_id[fold.rows("test")]
    models = [fold.local.weights(neighbourhood, setting, ids) for neighbourhood in ("neighbours", "equal", "random")]
    assert min(np.abs(a - b).max() for a, b in zip(models, models[1:] + models[:1], strict=True)) > 1e-3


def test_a_graph_with_too_few_neighbours_is_refused():
    fold = study()
    with pytest.raises(InputError, match=r"(?s)wants 24 of 24 neighbours, and the graph holds 9.*neighbours\.largest"):
        neighbourhoods(fold.queries, world()[3][:, :9], GENG, seed=1)


def test_numbers_of_neighbours_adapt_to_the_training_set():
    assert [neighbour_count(k, 1500) for k in (0.27, 1, 400, 0.0001, 4000)] == [405, 1500, 400, 1, 1500]
    assert neighbour_counts([0.02, 0.05, 0.1, 1], 18) == [1, 2, 18]


def test_settings_to_train_and_to_choose_from():
    assert [s.k for s in GENG.curve(24)] == [2, 7, 14, 24]
    assert GENG.eligible(24) == [(14, 0.1), (7, 0.1), (14, 0.01), (7, 0.01)]
    assert GENG.model_copy(update={"choose": "fixed"}).eligible(24) == [(7, 0.01)]
    assert by_lambda([*GENG.curve(24), *GENG.eligible(24)]) == {0.1: [7, 14], 0.01: [2, 7, 14, 24]}
