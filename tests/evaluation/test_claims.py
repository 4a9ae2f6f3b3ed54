"""Verdicts: each kind of claim, each verdict."""

from __future__ import annotations

from math import isnan

import numpy as np
import pyarrow as pa
import pytest
from qdrank.evaluation.claims import (
    FAILS,
    HOLDS,
    UNCLEAR,
    Claim,
    Rules,
    evidence_table,
    judge_all,
    judge_beats,
    judge_beats_not,
    judge_below,
    judge_bounded,
    judge_equal,
    judge_flat,
    judge_identical,
    judge_rise_and_fall,
    judge_to_zero,
    mean_of,
    pooled_evidence,
)

from qdrank.store import read, write
from qdrank.studies.geng2008.claims import claims, judge_groups, larger_set, same_class_share

RULES = Rules(margin=0.005)


def spread(mean, deviation=0.01, n=100):
    """Values with exactly this mean and deviation."""
    x = np.linspace(-1, 1, n)
    return mean + deviation * x / x.std(ddof=1)


GAIN, NOTHING, LOSS, NOISE = spread(0.02), spread(0.0), spread(-0.02), spread(0.01, 0.5)


def test_the_interval_is_students():
    found = mean_of(spread(0.02, 0.1, 25))
    assert found.high - found.mean == pytest.approx(2.0639 * 0.1 / 5, rel=1e-4)
    assert found.p == pytest.approx(0.3273, abs=1e-3)


@pytest.mark.parametrize(("values", "verdict"), [(GAIN, HOLDS), (LOSS, FAILS), (NOTHING, FAILS), (NOISE, UNCLEAR)])
def test_better(values, verdict):
    assert judge_beats({"difference": values}, RULES).verdict == verdict


def test_a_corrected_p_value_decides():
    assert judge_beats({"difference": GAIN}, RULES, 0.2).verdict == UNCLEAR


@pytest.mark.parametrize(("values", "verdict"), [(GAIN, FAILS), (LOSS, HOLDS), (NOTHING, HOLDS), (NOISE, UNCLEAR)])
def test_not_better(values, verdict):
    assert judge_beats_not({"difference": values}, RULES).verdict == verdict


@pytest.mark.parametrize(("values", "verdict"), [(NOTHING, HOLDS), (GAIN, FAILS), (NOISE, UNCLEAR)])
def test_equal(values, verdict):
    assert judge_equal({"difference": values}, RULES).verdict == verdict


@pytest.mark.parametrize(
    ("rise", "fall", "verdict"),
    [(GAIN, GAIN, HOLDS), (GAIN, NOTHING, FAILS), (NOTHING, GAIN, FAILS), (GAIN, NOISE, UNCLEAR)],
)
def test_rise_and_fall(rise, fall, verdict):
    found = judge_rise_and_fall({"rise": rise, "fall": fall}, RULES)
    assert found.verdict == verdict
    assert found.effect == pytest.approx(min(rise.mean(), fall.mean()))


@pytest.mark.parametrize(("worst", "verdict"), [(NOTHING, HOLDS), (LOSS, FAILS), (NOISE, UNCLEAR)])
def test_flat(worst, verdict):
    assert judge_flat({"k/m = 0.2": NOTHING + 0.0001, "k/m = 0.4": worst}, RULES).verdict == verdict


@pytest.mark.parametrize(("mean", "verdict"), [(0.4, HOLDS), (0.6, FAILS), (0.5, UNCLEAR)])
def test_below(mean, verdict):
    found = judge_below(0.5)({"value": np.r_[spread(mean), np.inf]}, RULES)
    assert found.verdict == verdict
    assert "1 queries left out" in found.measured


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ((3, 2, 1, 0), HOLDS),
        ((3, 2, 1, 0.1), FAILS),
        ((1, 1, 2, 0), HOLDS),
        ((3, 1, 0, 0.0), HOLDS),
        ((3, 0, 1, 1, 2, 0), FAILS),
    ],
)
def test_to_zero(means, verdict):
    assert judge_to_zero({str(i): np.array([mean]) for i, mean in enumerate(means)}, RULES).verdict == verdict


def test_identical_and_bounded():
    assert judge_identical({"difference": np.zeros(3)}, RULES).verdict == HOLDS
    assert judge_identical({"difference": np.array([0, 1e-15])}, RULES).verdict == FAILS
    assert judge_bounded({"value": np.array([0.1, 1.0])}, RULES).verdict == HOLDS
    assert judge_bounded({"value": np.array([0.1, 1.1])}, RULES).verdict == FAILS


def test_one_query_says_nothing():
    assert isnan(mean_of(np.array([0.3])).p)
    assert judge_beats({"difference": np.array([0.3])}, RULES).verdict == UNCLEAR


def test_claims_of_a_family_are_corrected_together(tmp_path):
    weak = spread(0.0021)  # p = 0.038 alone, 0.077 of two
    asked = {name: Claim("paper", name, "above 0", judge_beats, "one family") for name in ("a", "b")}
    alone = judge_all({"a": asked["a"]}, {"a": {"difference": weak}}, RULES, dataset="d")
    both = judge_all(asked, {name: {"difference": weak} for name in asked}, RULES, dataset="d")
    assert alone.column("verdict").to_pylist() == [HOLDS]
    assert HOLDS not in both.column("verdict").to_pylist()
    write(tmp_path / "claims.parquet", "claims", both)
    assert read(tmp_path / "claims.parquet", "claims").num_rows == 2


def geng_evidence(gain, gamma=0.3):
    parts = {name: {"difference": gain} for name in claims() if " - " in name}
    parts |= {f"gamma {m}": {"value": spread(gamma)} for m in ("knn-offline1", "knn-offline2")}
    return parts | {"k = m": {"difference": np.zeros(5)}}


def test_evidence_survives_the_store_and_is_pooled_over_seeds(tmp_path):
    tables = [evidence_table(geng_evidence(gain)) for gain in (GAIN, NOTHING)]
    write(tmp_path / "evidence.parquet", "evidence", tables[0])
    found = pooled_evidence([read(tmp_path / "evidence.parquet", "evidence"), tables[1]])
    assert found["knn-online - single"]["difference"].mean() == pytest.approx(0.01)
    assert len(found["k = m"]["difference"]) == 10


def test_seeds_are_judged_together_with_their_effects_noted():
    groups = {
        "sim1": {"sim1": geng_evidence(GAIN), "sim1-seed2": geng_evidence(NOTHING)},
        "sim2": {"sim2": geng_evidence(LOSS, 0.2)},
    }
    table = judge_groups(groups, [["sim1", "sim2"]], RULES).to_pylist()
    row = next(r for r in table if r["claim"] == "KNN Online beats Single" and r["dataset"] == "sim1 (2 seeds)")
    assert row["verdict"] == HOLDS
    assert row["effect"] == pytest.approx(0.01)
    assert row["note"] == "by seed: +0.0200, +0.0000"
    assert {r["verdict"] for r in table if "larger set" in r["claim"]} == {HOLDS}
    assert (
        next(r for r in table if r["claim"] == "KNN Online beats Single" and r["dataset"] == "sim2")["verdict"] == FAILS
    )


@pytest.mark.parametrize(("gamma", "verdict"), [(0.2, HOLDS), (0.4, FAILS), (0.2995, UNCLEAR)])
def test_the_change_ratio_on_a_larger_set(gamma, verdict):
    wide = {name: {"value": spread(0.3, 0.05)} for name in ("gamma knn-offline1", "gamma knn-offline2")}
    large = {name: {"value": spread(gamma, 0.05)} for name in wide}
    assert set(larger_set(wide, large, "both").column("verdict").to_pylist()) == {verdict}


def test_the_change_ratio_on_a_larger_set_at_the_same_k():
    small, large = (
        {f"gamma {method}": {"value": spread(0.3)} for method in ("knn-offline1", "knn-offline2")} for _ in range(2)
    )
    small["gammas knn-offline2"] = {"150": spread(0.5), "300": spread(0.4), "405": spread(0.3)}
    large["gammas knn-offline2"] = {"150": spread(0.1), "300": spread(0.6), "810": spread(0.2)}
    rows = {row["claim"]: row for row in larger_set(small, large, "both").to_pylist()}
    same_k = rows.pop("the change ratio of KNN Offline-2 is smaller on the larger set, at the same k")
    assert same_k["expected"].endswith("at k = 300")
    assert (same_k["verdict"], same_k["effect"]) == (FAILS, pytest.approx(-0.2))
    assert all("share" in claim for claim in rows)


def test_share_of_neighbours_with_the_class_of_a_query():
    train = np.array(["a", "a", "b", "b"], dtype=object)
    nearest = np.array([[0, 1, 2, 3], [0, 2, 3, 1]])
    found = same_class_share(nearest, train, np.array(["a", "b"], dtype=object), k=2)
    assert found.tolist() == [0.5, 0.0]


def test_every_claim_is_told_in_words():
    for name, claim in claims().items():
        assert claim.text, name
        assert claim.expected, name
    assert isinstance(evidence_table(geng_evidence(GAIN)), pa.Table)
