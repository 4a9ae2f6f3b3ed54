"""What Geng 2008's claims declare: both QCs, equal budgets, families."""

import numpy as np
import pyarrow as pa
import pytest

from qdrank.evaluation.deciding import SEEDS, THESE_WORLDS
from qdrank.evaluation.declared import CONTROL, FINDING, Rules
from qdrank.evaluation.values import Values
from qdrank.studies.geng2008 import STUDY
from qdrank.studies.geng2008.claims import budget_text, budgets, declare
from qdrank.studies.geng2008.methods import KNN, TREES, run
from qdrank.studies.geng2008.tables import classes_table, decide_across, locality_observations
from qdrank.workflow.config import WholeSettings


def options(**changes):
    """Values of the keys of the default configuration that decide the budgets."""
    settings, found = WholeSettings(), {}
    for key in STUDY.budget:
        path, _, name = key.partition(" as ")
        section, _, last = path.partition(".")
        found[name or last] = getattr(getattr(settings, section), last)
    return found | changes


def claims():
    return {claim.name: claim for claim in declare(options())}


def test_every_method_of_a_claim_has_the_same_budget_by_default():
    assert len(set(budgets(options()).values())) == 1
    assert budget_text(options()).startswith("every method chooses among 12 settings")


def test_unequal_budgets_are_said():
    text = budget_text(options(lambdas=[0.1]))
    assert "local models choose among 4 settings; models of many queries choose among 12 settings" in text


def test_trees_can_be_left_out():
    assert set(run(WholeSettings().geng)) - set(run(WholeSettings(geng={"trees": None}).geng)) == set(TREES)
    assert budget_text(options(trees=None)) == "every method chooses among 12 settings"


def test_knn_is_compared_with_the_qc_of_the_paper_and_with_one_that_sees_as_much():
    for method in KNN:
        for qc, purpose in (("qc", FINDING), ("qc-documents", CONTROL)):
            assert claims()[f"{method} - {qc}"].purpose == purpose
    assert {claims()[f"{qc} - single"].kind for qc in ("qc", "qc-documents")} == {"no superiority"}


def test_what_is_compared_is_run():
    methods = {name for claim in claims().values() for name in claim.compares}
    assert methods <= set(run(WholeSettings().geng))


def test_the_classifier_of_words_and_that_of_documents_are_both_told():
    n = 8
    kinds = np.array(["a", "b"] * 4, dtype=object)
    table = pa.table(
        {
            "query_id": [f"q{i}" for i in range(n)],
            "role": ["test"] * n,
            "class": kinds,
            "guess": ["a"] * n,
            "guess_documents": kinds,
            "origin": ["types known in the data"] * n,
        }
    )
    words, documents = classes_table({"fold1": table}).to_dict("records")
    assert (words["QC sees"], words["accuracy"]) == ("the query", 0.5)
    assert (documents["QC sees"], documents["accuracy"]) == ("its top documents", 1.0)


def test_locality_is_judged_on_all_folds(world_fold):
    queries, nearest, classes = world_fold
    one = locality_observations({"fold1": (queries, nearest, classes)})
    two = locality_observations(dict.fromkeys(("fold1", "fold2"), (queries, nearest, classes)))
    assert len(two.value) == 2 * len(one.value)
    assert set(two.fold) == {"fold1", "fold2"}


@pytest.fixture
def world_fold():
    from tests.studies.geng2008 import world

    from qdrank.studies.geng2008.class_ranker import guess_classes

    _, topics, queries, nearest = world.world()
    return queries, nearest, guess_classes(queries, topics, seed=world.SEED)[0].to_table(queries)


def test_classes_of_vectors_say_nothing_about_locality(world_fold):
    queries, nearest, classes = world_fold
    origin = pa.array(["3 K-means classes of query vectors"] * len(classes))
    changed = classes.set_column(classes.column_names.index("origin"), "origin", origin)
    assert locality_observations({"fold1": (queries, nearest, changed)}) is None


def gammas(means):
    return {
        f"gamma {m}": {"value": Values(np.linspace(-0.1, 0.1, 40) + means)} for m in ("knn-offline1", "knn-offline2")
    }


@pytest.mark.parametrize(("seeds", "analysis"), [(10, SEEDS), (3, THESE_WORLDS)])
def test_the_larger_set_is_compared_with_the_rules_of_the_study(seeds, analysis):
    members_of = {
        "sim1": {f"s{i}": gammas(0.3 + 0.001 * i) for i in range(10)},
        "sim2": {f"s{i}": gammas(0.2 + 0.001 * i) for i in range(seeds)},
    }
    rows = decide_across(declare(options()), members_of, {"sim1": "w", "sim2": "w"}).to_pylist()
    assert {(row["verdict"], row["analysis"]) for row in rows} == {("holds", analysis)}
    assert Rules().seeds == 10
