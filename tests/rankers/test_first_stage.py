"""BM25 and RM3 tuned on validation: the setting that is chosen, the run that comes out, and how it is measured."""

import numpy as np
import pytest
from tests.text.test_judged_text import made

from qdrank.datasets.judged import Judged, load_judged
from qdrank.learners.choose import ValidationQueries
from qdrank.measures.compute import measure
from qdrank.rankers.first_stage import bm25_settings, feedback_settings, first_stages
from qdrank.store import write
from qdrank.text.extract import TextSettings, judged_text
from qdrank.text.retrieve import BM25

GRID = {
    "bm25": {"k1": [0.3, 0.9, 2.0], "b": [0.0, 0.9]},
    "feedback": {"documents": [2, 5], "terms": [3], "weight": [0.5, 0.9]},
}
SETTINGS = TextSettings(n_top=5, folds=5)


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    path = tmp_path_factory.mktemp("judged") / "judged.parquet"
    write(path, "judged", judged_text(made(), SETTINGS).judged)
    return load_judged(path)


def parts(judged: Judged, fold: str = "fold1") -> dict[str, Judged]:
    return {role: judged.of_role(fold, role) for role in ("vali", "test")}


def test_given_constants_come_first():
    assert bm25_settings(BM25(k1=0.9, b=0.4), GRID["bm25"])[0] == BM25(k1=0.9, b=0.4)
    assert len(bm25_settings(BM25(k1=0.9, b=0.9), GRID["bm25"])) == 6, "the given ones are tried once"
    assert feedback_settings(GRID["feedback"])[0].weight == 0.9, "from the least feedback to the most"


def test_a_run_is_no_deeper_than_the_candidates_and_brings_its_grades(judged):
    stages = first_stages(made(), SETTINGS, parts(judged), "fold1", grid=GRID)
    collection = made()
    names = [query.query_id for query in collection.queries]
    grades = {
        (names[q], collection.documents.doc_id[d]): g
        for q, d, g in zip(
            *(c.tolist() for c in (collection.qrels.query, collection.qrels.document, collection.qrels.grade)),
            strict=True,
        )
    }
    for documents, scores in stages.runs.values():
        assert np.diff(documents.offsets).max() <= SETTINGS.n_top
        assert len(scores) == documents.n_documents
        for query, doc, grade in zip(documents.query, documents.doc_id, documents.y, strict=True):
            assert grade == max(grades.get((query, doc), 0), 0)
        for i, query in enumerate(documents.query_id.tolist()):
            relevant = {doc: g for (q, doc), g in grades.items() if q == query and g > 0}
            here = set(documents.doc_id[documents.offsets[i] : documents.offsets[i + 1]].tolist())
            assert dict(zip(documents.missed_id[i], documents.missed[i], strict=True)) == {
                doc: g for doc, g in relevant.items() if doc not in here
            }


def test_the_best_setting_of_validation_is_chosen_and_test_queries_have_no_say(judged):
    own = parts(judged)
    stages = first_stages(made(), SETTINGS, own, "fold1", grid=GRID)
    for method in ("bm25-tuned", "rm3"):
        rows = [row for row in stages.choices.to_pylist() if row["method"] == method]
        assert [row["chosen"] for row in rows].index(True) == int(np.argmax([row["value"] for row in rows]))
    spoiled = own | {"test": Judged(**{**vars(own["test"]), "y": np.zeros_like(own["test"].y)})}
    again = first_stages(made(), SETTINGS, spoiled, "fold1", grid=GRID)
    assert again.choices.equals(stages.choices)


def test_rm3_orders_the_candidates_by_the_scores_with_which_it_retrieves(judged):
    own = parts(judged)
    stages = first_stages(made(), SETTINGS, own, "fold1", grid=GRID)
    (found, retrieved), (candidates, scores) = stages.runs["rm3"], stages.runs["rm3-candidates"]
    assert candidates is own["test"]
    by_pair = dict(zip(zip(found.query, found.doc_id, strict=True), retrieved, strict=True))
    both = [
        (by_pair[pair], s)
        for pair, s in zip(zip(candidates.query, candidates.doc_id, strict=True), scores, strict=True)
        if pair in by_pair
    ]
    assert len(both) > 5
    first, second = np.array(both).T
    np.testing.assert_allclose(first, second, rtol=1e-6)
    assert (scores != stages.runs["reference"][1]).any()


def test_values_are_those_of_the_measures(judged):
    """With one setting, and validation queries as test queries, the value tried is the mean of the run's measure."""
    own = judged.of_role("fold1", "vali")
    one = {"bm25": {"k1": [0.9], "b": [0.4]}, "feedback": {"documents": [2], "terms": [3], "weight": [0.5]}}
    stages = first_stages(made(), SETTINGS, {"vali": own, "test": own}, "fold1", grid=one, seed=3)
    for row in stages.choices.to_pylist():
        documents, scores = stages.runs[row["method"]]
        value = ValidationQueries.of(documents, measure="ap", seed=3).mean(scores)
        assert row["value"] == value
        plain = measure(["ap"], documents.y, scores, documents.offsets, unranked=documents.unranked)["ap"].mean()
        assert value == pytest.approx(plain, abs=0.2), "but for the order of tied documents"


def test_the_candidates_ranked_instead_of_themselves_are_the_same(judged):
    again = judged.ranked_instead(judged.query_index, judged.doc_id)
    assert again.y.tolist() == judged.y.tolist()
    assert again.offsets.tolist() == judged.offsets.tolist()
    assert [sorted(own) for own in again.missed] == [sorted(own) for own in judged.missed]


def test_a_query_that_found_nothing_misses_everything(judged):
    nothing = np.empty(0, dtype=np.int64)
    empty = judged.ranked_instead(nothing, np.empty(0, dtype=object))
    assert empty.n_documents == 0
    assert empty.n_relevant.tolist() == judged.n_relevant.tolist()
