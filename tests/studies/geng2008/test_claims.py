"""What Geng 2008's claims declare, and what they are decided by, from a sweep whose values are known."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from qdrank.evaluation.deciding import SEEDS, THESE_WORLDS
from qdrank.evaluation.declared import CONTROL, FINDING, Rules
from qdrank.evaluation.values import Values
from qdrank.studies.geng2008 import STUDY
from qdrank.studies.geng2008.claims import budget_text, budgets, declare
from qdrank.studies.geng2008.methods import KNN, MEASURE, TREES, run
from qdrank.studies.geng2008.tables import along_k, curve, decide_across, locality_observations, observations
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


def test_no_rival_of_local_models_has_more_settings_by_default():
    """Trees have two, which did as well as twelve on validation queries."""
    assert budgets(options()) == {"local models": 12, "models of many queries": 12, "LambdaMART": 2}
    assert "12 for local models, 12 for models of many queries, 2 for LambdaMART; the number" in budget_text(options())


def test_unequal_budgets_are_said():
    text = budget_text(options(lambdas=[0.1]))
    assert "4 for local models, 12 for models of many queries" in text


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


SIZES = {"fold1": 100, "fold2": 200}
SINGLE = 0.5


def value(share):
    """Highest in the middle, Single's at the end."""
    return SINGLE + 0.1 * share * (1 - share)


def rows(shares):
    for fold, m in SIZES.items():
        for role in ("vali", "test"):
            for query in (f"{fold}-a", f"{fold}-b"):
                head = {"fold": fold, "role": role, "query_id": query}
                yield head | {"method": "single", "x": m, MEASURE: SINGLE, "gamma": np.nan}
                for method in KNN:
                    for share in shares:
                        swept = {"x": round(share * m), MEASURE: value(share), "gamma": 1 - share}
                        yield head | {"method": method} | swept


def inputs(sweep):
    bound = pd.DataFrame({"query_id": ["fold1-a"], "fold": ["fold1"], "bound": [1.0], "observed": [0.5]})
    return pd.DataFrame(sweep), bound


def found(shares):
    return observations(*inputs(list(rows(shares))))


@pytest.mark.parametrize("shares", [(0.1, 0.27, 0.5, 1.0), (0.1, 0.27, 0.5)])
def test_shares_are_of_all_training_queries(shares):
    own = curve(along_k(pd.DataFrame(rows(shares))), "knn-online", MEASURE)
    np.testing.assert_allclose(own.columns.get_level_values("share").tolist(), shares)


@pytest.mark.parametrize("shares", [(0.1, 0.27, 0.5, 1.0), (0.1, 0.27, 0.5)])
def test_the_curve_ends_with_single_however_far_it_was_taken(shares):
    contrasts = found(shares)["curve knn-online"]
    np.testing.assert_allclose(contrasts["fall"].value, value(0.5) - SINGLE)
    np.testing.assert_allclose(contrasts["rise"].value, value(0.5) - value(0.1))


def test_a_curve_that_stops_short_says_nothing_of_its_end():
    whole, short = found((0.1, 0.27, 0.5, 1.0)), found((0.1, 0.27, 0.5))
    assert set(whole) - set(short) == {"k = m", "gamma to 0 knn-offline1", "gamma to 0 knn-offline2"}
    assert (whole["k = m"]["difference"].value == 0).all()
    np.testing.assert_allclose(whole["gamma knn-offline1"]["value"].value, 0.73)


def test_change_ratios_are_known_by_the_mean_number_of_neighbours():
    by_k = found((0.1, 0.27, 0.5))["gammas knn-offline2"]
    assert list(by_k) == ["15", "40", "75"]
    np.testing.assert_allclose(by_k["75"].value, 0.5)


def test_a_curve_without_the_papers_k_says_nothing_of_it():
    lost = set(found((0.1, 0.27, 0.5))) - set(found((0.1, 0.5)))
    assert lost == {
        *(f"{method} - single, as the paper" for method in KNN),
        "gamma knn-offline1",
        "gamma knn-offline2",
        "gamma order",
    }


def test_the_best_k_is_found_in_each_fold_and_never_on_test_queries():
    sweep = list(rows((0.1, 0.5, 0.9)))
    for row in sweep:
        if row["role"] == "vali" and row["method"] == "knn-online":
            best = 0.5 if row["fold"] == "fold1" else 0.9
            row[MEASURE] = 1.0 if row["x"] == round(best * SIZES[row["fold"]]) else 0.0
    contrasts = observations(*inputs(sweep))["curve knn-online"]
    rise = dict(zip(contrasts["rise"].query_id, contrasts["rise"].value[:, 0], strict=True))
    assert rise["fold1-a"] == pytest.approx(value(0.5) - value(0.1))
    assert rise["fold2-a"] == pytest.approx(value(0.9) - value(0.1))


def test_without_validation_queries_there_is_no_claim_about_the_curve():
    sweep = [row for row in rows((0.1, 0.5, 1.0)) if row["role"] == "test"]
    found = observations(*inputs(sweep))
    assert not [name for name in found if name.startswith(("curve", "flat"))]
    assert "k = m" in found


def test_values_carry_their_query_and_fold():
    contrast = found((0.1, 0.27, 0.5, 1.0))["knn-online - single, as the paper"]["difference"]
    assert dict(zip(contrast.query_id, contrast.fold, strict=True)) == {f"{f}-{q}": f for f in SIZES for q in "ab"}
