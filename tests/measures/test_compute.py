import lzma

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.evaluation.values import fold_means
from qdrank.layout import query_offsets
from qdrank.measures import CONVENTIONS
from qdrank.measures.compute import average_precision, measure, ndcg
from qdrank.measures.matrix_kernels import _LONG, ap_matrix

Y = np.array([0, 2, 1, 0, 0, 1])
SCORES = np.array([3.0, 2.0, 1.0, 0.5, 0.5, 0.5])
OFFSETS = np.array([0, 3, 6])
IDS = np.array(["a", "b", "c", "d", "e", "f"])


def test_trec_breaks_ties_by_descending_docno_in_single_precision():
    values = measure(["rr/trec", "rr"], Y, SCORES + 1e-12 * np.arange(6)[::-1], OFFSETS, doc_ids=IDS)
    np.testing.assert_allclose(values["rr/trec"], [1 / 2, 1.0])
    np.testing.assert_allclose(values["rr"], [1 / 2, 1 / 3])


def test_trec_equals_linear_without_ties():
    rng = np.random.default_rng(3)
    y, scores, ids = rng.integers(0, 3, 60), rng.permutation(60), np.array([f"d{i}" for i in range(60)])
    names = [("ndcg@5/trec", "ndcg@5/linear"), ("ap/trec", "ap"), ("rr/trec", "rr"), ("p@5/trec", "p@5/letor4")]
    values = measure([name for pair in names for name in pair], y, scores, np.arange(0, 61, 12), doc_ids=ids)
    for trec, row_order in names:
        np.testing.assert_array_equal(values[trec], values[row_order])


def test_trec_without_ids_says_what_it_needs():
    with pytest.raises(InputError, match="doc_ids"):
        measure(["ap/trec"], Y, SCORES, OFFSETS)


def test_a_document_at_minus_infinity_is_not_in_the_list():
    np.testing.assert_allclose(measure(["rr"], [0, 0, 1], [0.0, -np.inf, np.inf], [0, 3])["rr"], [1.0])
    names = ["ap", "rr", "ndcg@5/letor4", "ndcg@5/linear", "judged@5/trec", "bpref/trec", "r@5/trec"]
    y, scores, missed = (
        np.array([0, 2, 1, 0, 1, 1]),
        np.array([3.0, -np.inf, 1, 0.5, 0.7, -np.inf]),
        ([2, 1], [0, 1, 2]),
    )
    judged = np.array([True, True, True, False, True, True])
    ours = measure(names, y, scores, OFFSETS, unranked=missed, doc_ids=IDS, judged=judged)
    kept = [0, 2, 3, 4]
    shared = {"doc_ids": IDS[kept], "judged": judged[kept], "unranked": ([2, 2, 1, 1], [0, 2, 4])}
    theirs = measure(names, y[kept], scores[kept], [0, 2, 4], **shared)
    for name in names:
        np.testing.assert_array_equal(ours[name], theirs[name])
    nothing = measure(names, y, np.full(6, -np.inf), OFFSETS, doc_ids=IDS)
    assert all((values == 0).all() for values in nothing.values())


def test_many_rankers_at_once_equal_one_by_one():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 200), rng.integers(0, 9, (200, 7)).astype(np.float32)
    offsets = np.array([0, 1, 1, 60, 130, 200])
    names = [*CONVENTIONS["letor4"], *CONVENTIONS["geng"]]
    together = measure(names, y, scores, offsets)
    for ranker in range(7):
        alone = measure(names, y, scores[:, ranker], offsets)
        for name in names:
            np.testing.assert_array_equal(together[name][:, ranker], alone[name])


def test_the_learners_short_cuts():
    np.testing.assert_array_equal(average_precision(Y, SCORES, OFFSETS), measure(["ap"], Y, SCORES, OFFSETS)["ap"])
    expected = measure(["ndcg@2/letor4"], Y, SCORES, OFFSETS)["ndcg@2/letor4"]
    np.testing.assert_array_equal(ndcg(Y, SCORES, OFFSETS, k=2, convention="letor4"), expected)


def test_short_and_empty_queries_under_each_convention():
    y, scores, offsets = [1, 0, 0], [2.0, 1.0, 1.0], [0, 1, 3, 3]
    expected = {
        "ndcg@2/letor4": [0, 0, 0],
        "ndcg@2/geng": [1, 0, 0],
        "ndcg@2/lightgbm": [1, 1, 1],
        "p@2/letor4": [0.5, 0, 0],
        "p@2/letor3": [0, 0, 0],
        "mean_ndcg/letor4": [1, 0, 0],
        "mean_ndcg/geng": [1, 0, 0],
    }
    for name, values in measure(expected, y, scores, offsets).items():
        np.testing.assert_array_equal(values, expected[name], err_msg=name)


def test_zhas_gains():
    y, scores = [4, 3, 2, 1, 0], [5.0, 4.0, 3.0, 2.0, 1.0]
    by_hand = 10 + 7 / np.log2(3) + 3 / 2 + 0.5 / np.log2(5)
    assert measure(["dcg@5/zha"], y, scores, [0, 5])["dcg@5/zha"][0] == pytest.approx(by_hand)
    with pytest.raises(InputError, match="grades 0 to 4"):
        measure(["dcg@5/zha"], [5, 0], [1.0, 2.0], [0, 2])


def test_no_queries_at_all():
    values = measure(["ap", "ndcg@10/exp"], [], [], [0])
    assert all(len(column) == 0 for column in values.values())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scores": np.array([1, 2, np.nan, 4, 5, 6])}, "score of document 2"),
        ({"scores": np.ones(5)}, r"shape \(5,\) for 6 documents"),
        ({"scores": np.ones((6, 2, 2))}, "one or two dimensions"),
        ({"y": np.array([0, 1, -1, 0, 0, 0])}, "between 0 and"),
        ({"y": np.array([0, 1, 99, 0, 0, 0])}, "between 0 and"),
        ({"y": np.array([0, 0.5, 1, 0, 0, 0])}, "whole numbers"),
        ({"y": np.array([0, np.nan, 1, 0, 0, 0])}, "whole numbers"),
        ({"y": np.ones((6, 1), dtype=int)}, "one-dimensional"),
        ({"offsets": np.array([0, 3, 7])}, "offsets must rise"),
        ({"offsets": np.array([0, 4, 3, 6])}, "offsets must rise"),
        ({"offsets": np.array([], dtype=int)}, "offsets must rise"),
        ({"doc_ids": np.array(["a"])}, "1 document ids"),
        ({"unranked": ([1], [0, 1])}, "another number of queries"),
    ],
)
def test_wrong_input_is_named(change, said):
    case = {"y": Y, "scores": SCORES, "offsets": OFFSETS} | change
    with pytest.raises(InputError, match=said):
        measure(["ap"], **case)


def test_whole_numbers_may_come_as_floats():
    np.testing.assert_array_equal(
        average_precision(Y.astype(float), SCORES, OFFSETS), average_precision(Y, SCORES, OFFSETS)
    )


def test_means_of_folds():
    means = fold_means(np.array([1.0, 0.0, 0.5, 0.5, 0.2]), np.array(["fold1", "fold1", "fold2", "fold2", "fold2"]))
    assert means.folds == pytest.approx({"fold1": 0.5, "fold2": 0.4})
    assert means.published == pytest.approx(0.45)
    assert means.pooled == pytest.approx(0.44)
    with pytest.raises(InputError):
        fold_means(np.array([1.0, 2.0]), np.array(["fold1"]))


def test_unranked_documents_count_among_the_relevant_and_in_the_ideal_order():
    case = {"y": [1, 0], "scores": [2.0, 1.0], "offsets": [0, 2], "unranked": ([0, 2], [0, 2])}
    values = measure(["ap", "ndcg@2/linear", "dcg@2/linear", "p@2/letor4", "rr"], **case)
    ideal = 2 + 1 / np.log2(3)
    assert [column[0] for column in values.values()] == pytest.approx([0.5, 1 / ideal, 1.0, 0.5, 1.0])


@pytest.mark.parametrize("levels", [3, 40, 10**6])
def test_long_lists_have_the_average_precision_of_the_measure(levels):
    """With few levels most scores are tied; ties are broken by row order in both."""
    rng = np.random.default_rng(levels)
    offsets = np.array([0, _LONG + 100, 2 * _LONG + 300, 2 * _LONG + 320])
    scores = rng.integers(0, levels, (2, offsets[-1])).astype(float)
    y = (rng.random(offsets[-1]) < 0.1).astype(int)
    y[offsets[1] : offsets[2]] = 0
    expected = average_precision(y, scores.T, offsets).T
    np.testing.assert_allclose(ap_matrix(scores, y > 0, offsets), expected, rtol=0, atol=1e-14)
    assert (ap_matrix(scores, y > 0, offsets)[:, 1] == 0).all(), "nothing is relevant"


COLUMNS = ["ap", "p@1/letor4", "p@5/letor4", "p@10/letor4"]
COLUMNS += [f"ndcg@{k}/letor4" for k in (1, 3, 5, 7, 8, 9, 10)] + ["mean_ndcg/letor4"]
PRINTED = {
    21: ".4292 .3654 .3154 .2269 .3013 .3798 .4203 .4384 .3890 .1874 .1933 .4303",
    23: ".4226 .3333 .3128 .2327 .2821 .3810 .4146 .4486 .4003 .1837 .1868 .4345",
    25: ".3701 .3397 .2769 .2109 .2714 .3175 .3549 .3932 .3502 .1598 .1655 .3693",
    40: ".4342 .3526 .3205 .2250 .2842 .3686 .4242 .4573 .4066 .1950 .1995 .4327",
}


@pytest.fixture(scope="module")
def values(mirror):
    with lzma.open(mirror / "letor4" / "MQ2008" / "S5.txt.xz", "rt") as file:
        rows = [line.partition("#")[0].split() for line in file]
    y, query = np.array([int(row[0]) for row in rows]), np.array([row[1] for row in rows])
    X = np.array([[float(cell.partition(":")[2]) for cell in row[2:]] for row in rows])
    assert (len(y), X.shape[1], len(query_offsets(query)) - 1) == (2874, 46, 156)
    return measure(COLUMNS, y, X, query_offsets(query))


@pytest.mark.mirror
@pytest.mark.parametrize("feature", PRINTED)
def test_single_features_give_the_scripts_figures(values, feature):
    ours = [f"{values[name][:, feature - 1].mean():.4f}".lstrip("0") for name in COLUMNS]
    assert " ".join(ours) == PRINTED[feature]
