"""Learners and aggregators as scikit-learn knows them: its own checks, and the tools that people use them with."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.learners.stored import SMALL, judged, stored

from qdrank.datasets.letor import load_letor
from qdrank.errors import InputError
from qdrank.learners import LEARNERS, tune
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.linear import Regression
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.measures.compute import measure

LEARNED = [name for name in LEARNERS if name != "bordacount"]
# One that is linear, one of trees, one over lists; the others are tried as well by `make test-full`.
DAILY = ("ranksvm", "lambdamart", "listnet")

# The checks of scikit-learn that cannot hold here, and why. Each is tried all the same: one that came to hold would fail.
OF_ALL = {"check_dtype_object": "what is no number is refused with our sentence, a ValueError, not with a TypeError"}
OF_LISTS = {"check_methods_subset_invariance": "a document's score depends on the documents that it is ranked with"}
EXPECTED = {
    "mhr-bc": OF_LISTS,
    "sser": OF_LISTS,
    "cps-kendall": OF_LISTS,
    "cps-footrule": OF_LISTS
    | {"check_methods_sample_order_invariance": "of documents that are equally near the first row is placed first"},
    "cps-spearman": OF_LISTS,
    "bordacount": OF_LISTS
    | dict.fromkeys(
        ("check_n_features_in", "check_n_features_in_after_fitting"),
        "nothing is learned, so any number of rankings can be combined at any time",
    ),
}


def made(name: str):
    return LEARNERS[name](**SMALL.get(name, {}))


def expected_failures(estimator) -> dict[str, str]:
    return OF_ALL | EXPECTED.get(estimator.NAME, {})


with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message=".*does not inherit from `sklearn.base.BaseEstimator`")
    daily, others = (
        parametrize_with_checks([made(name) for name in names], expected_failed_checks=expected_failures)
        for names in (DAILY, [name for name in LEARNERS if name not in DAILY])
    )


@daily
@pytest.mark.filterwarnings("ignore:no query has documents of different grades", "ignore:no query ids")
def test_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.full
@others
@pytest.mark.filterwarnings("ignore:no query has documents of different grades", "ignore:no query ids")
def test_the_checks_of_scikit_learn_on_other_learners(estimator, check):
    check(estimator)


def each(names):
    """A test for each of the names."""
    marked = [pytest.param(name, marks=[pytest.mark.full] * (name not in DAILY)) for name in names]
    return pytest.mark.parametrize("name", marked)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# ---- input ---------------------------------------------------------------------------------------------------------


def bad_inputs():
    X, y, query = judged()
    return {
        "no document": (X[:0], y[:0], query[:0]),
        "0 feature": (X[:, :0], y, query),
        "must be a table": (X[:, 0], y, query),
        "infinite values": (np.where(X < 0.1, np.inf, X), y, query),
        "sparse": (scipy.sparse.csr_matrix(X), y, query),
        "must be numbers": (np.full((150, 4), "word"), y, query),
        "query ids do not match": (X, y, query[:-1]),
    }


@pytest.mark.parametrize("problem", list(bad_inputs()))
@each(LEARNERS)
def test_documents_that_cannot_be_used_are_refused_in_a_sentence(name, problem):
    X, y, query = bad_inputs()[problem]
    expected = "do not match" if problem.startswith("query") else problem
    with pytest.raises(InputError, match=expected):
        made(name).fit(X, y, query)
    learner = made(name).fit(*judged())
    if name in LEARNED and not problem.startswith("query"):
        with pytest.raises(InputError, match=expected):
            learner.predict(X, query)


@each(name for name in LEARNED if not name.startswith("cps"))
def test_missing_features_are_refused_in_a_sentence(name):
    X, y, query = judged()
    with pytest.raises(InputError, match="NaN"):
        made(name).fit(np.where(X < 0.1, np.nan, X), y, query)
    with pytest.raises(InputError, match="NaN"):
        made(name).fit(X, y, query).predict(np.where(X < 0.1, np.nan, X), query)


@pytest.mark.parametrize("name", LEARNED)
def test_grades_that_cannot_be_learned_from_are_refused_in_a_sentence(name):
    X, y, query = judged()
    for bad, problem in (
        (None, "target y is None"),
        (y[:-1], "do not match"),
        (y + np.nan, "NaN"),
        (y[:, None], "one"),
    ):
        with pytest.raises(InputError, match=problem):
            made(name).fit(X, bad, query)
    if made(name).GRADED:
        for bad in (y - 1, y + 0.5):
            with pytest.raises(InputError, match="whole numbers, 0 or more"):
                made(name).fit(X, bad, query)


@pytest.mark.parametrize("grade", [0, 1])
@each(LEARNED)
def test_equal_grades_give_a_sentence_and_scores(name, grade):
    X, _, query = judged()
    with pytest.warns(RuntimeWarning, match="no order to learn"):
        learner = made(name).fit(X, np.full(150, grade), query)
    assert np.isfinite(learner.predict(X, query)).all()


@each(LEARNED)
def test_other_columns_than_learned_are_refused_also_by_a_record(name):
    X, y, query = judged()
    learner = made(name).fit(X, y, query)
    for one in (learner, stored(learner)):
        with pytest.raises(InputError, match="X has 1 features"):
            one.predict(X[:, :1], query)


@each(LEARNED)
def test_nothing_is_predicted_before_fit(name):
    X, y, query = judged()
    with pytest.raises(InputError, match="has not been fitted") as caught:
        made(name).predict(X, query)
    assert isinstance(caught.value, NotFittedError)
    with pytest.raises(NotFittedError):
        made(name).score(X, y, query)


def test_the_error_is_ours_alone_where_scikit_learn_is_not_in_use():
    code = (
        "import sys, numpy as np\n"
        "from qdrank.learners import RankSVM\n"
        "try: RankSVM().predict(np.ones((2, 2)))\n"
        "except ValueError as error: print(type(error).__mro__[1].__name__, 'sklearn' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["InputError", "False"]


@each(LEARNED)
def test_documents_without_queries_are_taken_for_one_query_with_a_warning(name):
    X, y, _ = judged()
    with pytest.warns(RuntimeWarning, match="no query ids: all 150 documents are taken for one query"):
        learner = made(name).fit(X, y)
    with pytest.warns(RuntimeWarning, match="no query ids"):
        learner.score(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(name).fit(X, y, np.zeros(150)).score(X, y, np.zeros(150))  # one query on purpose


@pytest.mark.filterwarnings("ignore:no query ids")
def test_without_query_the_documents_are_one_query():
    X, y, _ = judged()
    one = np.zeros(len(X))
    np.testing.assert_array_equal(RankSVM().fit(X, y).coef_, RankSVM().fit(X, y, one).coef_)
    np.testing.assert_array_equal(ATVT().fit(X, y).predict(X), ATVT().fit(X, y, one).predict(X))
    learner = Regression().fit(X, y)
    assert learner.score(X, y) == learner.score(X, y, one)


def test_columns_have_the_names_that_were_learned():
    X, y, query = judged()
    frame = pd.DataFrame(X, columns=["title", "body", "links", "age"])
    learner = RankSVM().fit(frame, y, query)
    assert learner.feature_names_in_.tolist() == list(frame)
    np.testing.assert_array_equal(learner.coef_, RankSVM().fit(X, y, query).coef_)
    with pytest.raises(InputError, match="feature names should match"):
        learner.predict(frame[["body", "title", "links", "age"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        learner.predict(X)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        learner.fit(X, y, query).predict(frame)


# ---- parameters and score ------------------------------------------------------------------------------------------


def test_parameters_are_set_by_name_and_a_misspelt_one_is_refused():
    learner = RankSVM(lam=0.1).set_params(lam=1.0, tol=1e-4)
    assert clone(learner).get_params() == learner.get_params()
    assert (learner.lam, learner.tol) == (1.0, 1e-4)
    with pytest.raises(InputError, match="did you mean lam"):
        learner.set_params(lamm=2.0)


def test_a_clone_keeps_what_is_asked_for_and_forgets_what_was_learned(routing):
    learner = RankSVM(lam=0.1).set_fit_request(query="qid").fit(*judged())
    copied = clone(learner)
    assert copied.get_metadata_routing().fit.requests["query"] == "qid"
    assert copied.get_metadata_routing().predict.requests["query"] is True
    assert not hasattr(copied, "coef_")
    with pytest.raises(InputError, match="takes no 'groups'"):
        learner.set_score_request(groups=True)


@pytest.mark.parametrize("name", ["ap", "ndcg@10/letor4"])
def test_the_score_is_the_mean_of_a_measure(name):
    X, y, query = judged()
    learner = RankSVM().fit(X, y, query)
    expected = measure([name], y, learner.predict(X), np.arange(0, 151, 10))[name].mean()
    assert learner.score(X, y, query, measure=name) == pytest.approx(expected, abs=1e-12)
    assert learner.score(X, y, query) == learner.score(X, y, query, measure="ap")


# ---- tools of scikit-learn -----------------------------------------------------------------------------------------


def test_a_pipeline_passes_the_queries_on(routing):
    X, y, query = judged()
    pipeline = make_pipeline(StandardScaler(), LEARNERS["sser"](gamma=0.5)).fit(X, y, query=query)
    scaled = StandardScaler().fit_transform(X)
    alone = LEARNERS["sser"](gamma=0.5).fit(scaled, y, query)
    np.testing.assert_array_equal(pipeline.predict(X, query=query), alone.predict(scaled, query))
    assert pipeline.score(X, y, query=query) == alone.score(scaled, y, query)
    assert "sser__gamma" in pipeline.get_params()


def test_cross_validation_keeps_queries_whole(routing):
    X, y, query = judged()
    given = {"params": {"query": query, "groups": query}, "cv": GroupKFold(3)}
    scores = cross_val_score(Regression(), X, y, **given)
    folds = GroupKFold(3).split(X, y, query)
    expected = [Regression().fit(X[a], y[a], query[a]).score(X[b], y[b], query[b]) for a, b in folds]
    assert scores.tolist() == expected


@pytest.fixture(scope="module")
def fold1(mirror: Path):
    """Features, grades and query ids of the training and the validation part of MQ2008, fold 1."""
    read = [load_letor(mirror / "letor4" / "MQ2008" / f"S{i}.txt.xz") for i in range(1, 5)]
    train = tuple(np.concatenate([getattr(one, name) for one in read[:3]]) for name in ("X", "y", "query"))
    return train, (read[3].X, read[3].y, read[3].query)


LAMS = {"lam": [1.0, 1e-1, 1e-2, 1e-3, 1e-4]}


@pytest.mark.mirror
def test_on_the_validation_part_a_grid_search_chooses_as_our_tuner(fold1, routing):
    ours = tune("ranksvm", LAMS, *fold1)
    X, y, query = (np.concatenate(parts) for parts in zip(*fold1, strict=True))
    part = np.repeat([-1, 0], [len(fold1[0][1]), len(fold1[1][1])])
    search = GridSearchCV(RankSVM(), LAMS, cv=PredefinedSplit(part), refit=False).fit(X, y, query=query)
    assert search.cv_results_["mean_test_score"].tolist() == ours.values
    assert search.best_params_ == {"lam": ours.chosen.lam}
