"""What the claims on Geng 2008 are decided by, from a sweep whose values are known."""

import numpy as np
import pandas as pd
import pytest

from qdrank.studies.geng2008.methods import KNN, MEASURE
from qdrank.studies.geng2008.tables import along_k, curve, observations

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
