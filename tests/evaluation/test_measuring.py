import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.evaluation.measuring import document_ids, joined_refits, joined_scores, retrieved_scores
from qdrank.evaluation.values import fold_means
from qdrank.store import write

QUERY, DOCUMENT, SCORES = ["a", "a", "b", "b"], ["d1", "d2", "d1", "d3"], np.array([0.1, 0.2, 0.3, 0.4])


@pytest.fixture
def ids():
    return document_ids(Judged.from_arrays(np.zeros((4, 1)), [0, 1, 0, 1], QUERY, DOCUMENT))


def stored(path, rows, fit=None):
    """Scores of some rows; those of a further fit are higher by its number."""
    ids = {name: np.array(values, dtype=object)[rows] for name, values in (("query_id", QUERY), ("doc_id", DOCUMENT))}
    if fit is None:
        write(path, "scores", pa.table({**ids, "score": SCORES[rows]}))
    else:
        write(path, "refits", pa.table({**ids, "score": SCORES[rows] + fit, "fit": fit}))


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_scores_are_joined_on_query_and_document(ids, tmp_path, rows):
    stored(tmp_path / "scores.parquet", rows)
    assert joined_scores(ids, tmp_path / "scores.parquet").tolist() == SCORES.tolist()


def test_further_fits_are_joined_each_for_itself(ids, tmp_path):
    stored(tmp_path / "refits.parquet", [0, 1, 2, 3, 3, 1, 0, 2], fit=np.repeat([1, 2], 4))
    first, second = joined_refits(ids, tmp_path / "refits.parquet")
    np.testing.assert_array_equal(first, SCORES + 1)
    np.testing.assert_array_equal(second, SCORES + 2)


def test_documents_of_a_query_stay_in_the_order_they_were_found_in(tmp_path):
    stored(tmp_path / "scores.parquet", [3, 2, 1, 0])
    documents = Judged.from_arrays(np.zeros((2, 1)), [0, 1], ["a", "b"], ["d1", "d3"])
    found, scores = retrieved_scores(documents, tmp_path / "scores.parquet")
    assert found.doc_id.tolist() == ["d2", "d1", "d3", "d1"]
    assert scores.tolist() == [0.2, 0.1, 0.4, 0.3]


def test_a_document_without_a_score_is_named(ids, tmp_path):
    stored(tmp_path / "scores.parquet", [0, 1, 2])
    with pytest.raises(InputError, match=r"no score for query and document \('b', 'd3'\)"):
        joined_scores(ids, tmp_path / "scores.parquet")


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["fold1", "fold2", "fold3"])), min_size=1, max_size=20))
def test_means_are_those_of_the_lists(rows):
    lists = {name: [value for value, fold in rows if fold == name] for _, name in rows}
    means = fold_means(np.array([value for value, _ in rows]), np.array([fold for _, fold in rows]))
    by_fold = {name: sum(values) / len(values) for name, values in lists.items()}
    assert means.folds == pytest.approx(by_fold)
    assert means.published == pytest.approx(sum(by_fold.values()) / len(by_fold))
    assert means.pooled == pytest.approx(sum(value for value, _ in rows) / len(rows))


@pytest.mark.parametrize(
    ("values", "fold"), [([], []), ([1.0, 2.0], ["a"]), ([[1.0], [2.0]], [["a"], ["b"]])], ids=["none", "short", "2d"]
)
def test_other_shapes_are_refused(values, fold):
    with pytest.raises(InputError, match="one of each per query"):
        fold_means(np.array(values), np.array(fold))
