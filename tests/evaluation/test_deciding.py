"""Tables of verdicts on data sets; their averages against statsmodels and brute force, which sets count, and their verdicts."""

import numpy as np
import pyarrow as pa
import pytest
from statsmodels.stats.meta_analysis import combine_effects
from tests.test_ledger import budget, present

from qdrank.errors import InputError
from qdrank.evaluation.deciding import (
    AVERAGE,
    QUERIES,
    SEEDS,
    SETS,
    THESE_WORLDS,
    VALUES,
    averages,
    believed_errors,
    between_sets,
    claim_of,
    decide,
    moved_without_each,
    pool,
    stamped,
    with_averages,
)
from qdrank.evaluation.declared import CLAIM_KINDS, FAILS, HOLDS, UNCLEAR, Claim, Declaration
from qdrank.evaluation.estimates import over_queries
from qdrank.evaluation.values import Values, load_observations, observations_table
from qdrank.figures.averages import forest_of_sets
from qdrank.figures.verdicts import (
    CANNOT_TELL,
    CHECKS,
    PUBLIC,
    SIMULATED,
    expected_errors,
    section_of,
    verdicts_overview,
)
from qdrank.registry import loaded
from qdrank.store import read, write
from qdrank.studies import STUDIES


def declared(name, kind="superiority", **more):
    return Claim(name=name, text=f"{name} is so", expected="above 0", kind=kind, unit="NDCG", **more)


DECLARATION = Declaration(
    study="toy",
    paper="Toy 2000",
    claims=(
        declared("gain", margin=0.005, family="f", budget="12 settings each"),
        declared("other gain", margin=0.005, family="f"),
        declared("shape", "rise and fall", margin=0.005),
        declared("identity", "identical", purpose="check"),
        declared("control", margin=0.005, purpose="control"),
    ),
)


def spread(mean, deviation=0.01, n=100):
    x = np.linspace(-1, 1, n)
    return mean + deviation * x / x.std(ddof=1)


def observations(gain=0.02, deviation=0.01, n=100):
    ids, folds = [f"q{i}" for i in range(n)], [f"fold{i % 5 + 1}" for i in range(n)]
    own = Values(spread(gain, deviation, n), ids, folds)
    return {
        "gain": {"difference": own},
        "other gain": {"difference": own},
        "shape": {"rise": own, "fall": own},
        "identity": {"difference": Values(np.zeros(3))},
        "control": {"difference": own},
    }


def by_claim(table):
    return {one["claim"]: one for one in table.to_pylist()}


def test_rows(tmp_path):
    table = decide(DECLARATION, {"toy": observations()}, dataset="toy")
    write(tmp_path / "verdicts.parquet", "verdicts", table)
    rows = by_claim(read(tmp_path / "verdicts.parquet", "verdicts"))
    assert list(rows) == ["gain", "other gain", "shape", "identity", "control"]
    assert {one["verdict"] for one in rows.values()} == {HOLDS}
    gain = rows["gain"]
    assert gain["level"] == rows["shape"]["level"] == pytest.approx(0.025)
    assert rows["control"]["level"] == pytest.approx(0.05)
    assert (gain["analysis"], gain["n"], gain["budget"]) == (QUERIES, 100, "12 settings each")
    assert gain["p_corrected"] == pytest.approx(2 * gain["p"])
    assert (rows["identity"]["analysis"], rows["identity"]["low"]) == (VALUES, None)


def test_observations_survive_the_store(tmp_path):
    write(tmp_path / "observations.parquet", "observations", observations_table(observations(n=7)))
    found = load_observations(read(tmp_path / "observations.parquet", "observations"))
    assert set(found) == set(observations())
    own, was = found["shape"]["fall"], observations(n=7)["shape"]["fall"]
    np.testing.assert_allclose(own.value, was.value, rtol=1e-6)
    assert own.query_id.tolist() == was.query_id.tolist()
    assert own.fold.tolist() == was.fold.tolist()
    assert found["identity"]["difference"].query_id.tolist() == ["", "", ""]


def test_a_claim_without_observations_has_no_row():
    found = observations()
    del found["other gain"]
    rows = by_claim(decide(DECLARATION, {"toy": found}, dataset="toy"))
    assert "other gain" not in rows
    assert rows["gain"]["level"] == pytest.approx(0.05)


def test_few_seeds_speak_of_these_worlds_only():
    seeds = {f"s{i}": observations(gain) for i, gain in enumerate((0.02, 0.03, 0.04))}
    row = by_claim(decide(DECLARATION, seeds, dataset="sim", world="kinds of queries with rules of their own"))["gain"]
    assert (row["verdict"], row["analysis"], row["n"]) == (HOLDS, THESE_WORLDS, 300)
    assert row["reason"].endswith("3 seeds, 10 needed for a statement beyond these worlds")
    assert row["note"] == "by seed: +0.0200, +0.0300, +0.0400"


def test_ten_seeds_speak_of_the_world_and_may_disagree():
    seeds = {f"s{i}": observations(gain) for i, gain in enumerate((-0.04, 0.06) * 5)}
    row = by_claim(decide(DECLARATION, seeds, dataset="sim", world="nothing"))["gain"]
    assert (row["verdict"], row["analysis"], row["n"]) == (UNCLEAR, SEEDS, 10)


@pytest.mark.parametrize("name", list(STUDIES))
def test_ten_seeds_decide_the_claims_of_every_study(name):
    """Whatever the kinds of its claims, and whether its methods were fitted once or several times."""
    declaration = loaded(STUDIES[name].claims)(budget(name, next(iter(present(name).grids.values()))))
    rng, ids, folds = np.random.default_rng(8), [f"q{i}" for i in range(70)], ["fold1"] * 70
    members = {
        f"seed{seed}": {
            claim.name: {
                which: Values(rng.normal(0.03, 0.01, (70, 3)), ids, folds)
                if place % 2
                else Values(rng.normal(0.03, 0.01, 70), ids, folds)
                for which in CLAIM_KINDS[claim.kind].contrasts or ("difference",)
            }
            for place, claim in enumerate(declaration)
        }
        for seed in range(10)
    }
    rows = by_claim(decide(declaration, members, dataset="sim", world="rules of their own"))
    assert set(rows) == {claim.name for claim in declaration}
    for claim in declaration:
        row, exact = rows[claim.name], CLAIM_KINDS[claim.kind].exact
        assert row["analysis"] == (VALUES if exact else SEEDS), claim.name
        assert exact or (row["n"], row["low"] < row["effect"] < row["high"]) == (10, True), claim.name
    assert sum(row["verdict"] == HOLDS for row in rows.values()) > 1


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (spread(0.02, n=70), "too few queries: 70, and 71 are needed at this level"),
        (np.full(100, 0.2), "no spread: all 100 values are equal"),
        (np.r_[np.full(9, 0.4), np.zeros(91)], "too few queries differ: about 9 of 100 carry the result, and 10 must"),
        (np.array([0.5, 0.1]), "too few queries: 2, and 71 are needed at this level"),
    ],
)
def test_next_to_nothing_has_a_mean_but_no_interval_and_no_verdict(values, why):
    table = decide(DECLARATION, {"toy": observations() | {"gain": {"difference": Values(values)}}}, dataset="toy")
    row = by_claim(table)["gain"]
    assert (row["verdict"], row["reason"]) == (UNCLEAR, why)
    figures = ("low", "high", "level", "p", "p_corrected", "detectable", "boot_low", "boot_high")
    assert [row[name] for name in figures] == [None] * 8
    assert (row["effect"], row["n"]) == (pytest.approx(values.mean()), len(values))
    cells = {row["claim"]: row["toy"] for row in verdicts_overview(table).to_pylist()}
    assert cells["gain is so"] == f"? {values.mean():+.3f} (too little to judge)"


def test_where_the_two_intervals_disagree_the_data_cannot_tell():
    """Eleven large changes of one sign among 100: the bootstrap's upper end is higher than Student's."""
    values = np.r_[np.linspace(0.3, 0.5, 11), np.zeros(89)]
    estimate = over_queries(values)
    limit = (estimate.interval(0.05)[1] + estimate.bootstrap(0.05)[1]) / 2
    asked = Declaration(study="toy", paper="Toy", claims=(declared("gain", "no superiority", margin=limit),))
    row = by_claim(decide(asked, {"toy": {"gain": {"difference": Values(values)}}}, dataset="toy"))["gain"]
    assert row["high"] < limit < row["boot_high"]
    assert row["verdict"] == UNCLEAR
    assert row["reason"].startswith("the intervals disagree: Student's says 'holds', the bootstrap's")
    assert row["differing"] == pytest.approx(10.9, abs=0.2)


def test_seeds_of_real_data_are_refused():
    with pytest.raises(InputError, match="simulated world"):
        decide(DECLARATION, {"a": observations(), "b": observations()}, dataset="toy")


def test_seeds_with_other_contrasts_are_refused():
    other = observations() | {"gain": {"another": Values(np.zeros(3))}}
    with pytest.raises(InputError, match="b have other contrasts"):
        decide(DECLARATION, {"a": observations(), "b": other}, dataset="toy", world="x")


def test_observations_of_a_wrong_shape_are_refused():
    with pytest.raises(InputError, match="as many query ids"):
        Values([1, 2, 3], ["a", "b"])


def test_the_overview_separates_findings_worlds_checks_and_what_is_open():
    import pyarrow as pa

    tables = [
        decide(DECLARATION, {"real": observations(-0.02)}, dataset="real"),
        decide(DECLARATION, {"noisy": observations(0.01, 0.5)}, dataset="noisy"),
        decide(DECLARATION, {"s1": observations()}, dataset="sim", world="locality"),
    ]
    verdicts = pa.concat_tables(tables)
    rows = verdicts_overview(verdicts).to_pylist()
    assert list(dict.fromkeys(row["section"] for row in rows)) == [PUBLIC, SIMULATED, CHECKS, CANNOT_TELL]
    cells = {(row["section"], row["claim"]): row for row in rows}
    gain = cells[PUBLIC, "gain is so"]
    assert (gain["real"], gain["noisy"], gain["sim"]) == ("no -0.020", "?", "")
    assert cells[SIMULATED, "gain is so"]["sim"] == "yes +0.020*"
    assert cells[CANNOT_TELL, "gain is so"]["noisy"].startswith("? +0.010 (could find 0.1")
    assert [row["claim"] for row in rows if row["section"] == PUBLIC][-1] == "control is so"
    assert cells[CHECKS, "identity is so"]["real"] == "yes +0.000"
    assert verdicts.filter(pa.compute.equal(verdicts.column("verdict"), FAILS)).num_rows == 4


def test_the_head_says_how_many_verdicts_are_expected_to_be_wrong():
    import pyarrow as pa

    tables = [
        decide(DECLARATION, {"real": observations(-0.02)}, dataset="real"),  # three families, all told
        decide(DECLARATION, {"noisy": observations(0.01, 0.5)}, dataset="noisy"),  # nothing told
    ]
    head = expected_errors(pa.concat_tables(tables))
    assert head.startswith("8 verdicts in 6 families")
    assert "4 say yes or no, for 4 the data cannot tell" in head
    # Every family that has intervals counts, also where nothing was told: what is told is told because it is extreme.
    assert "Up to 0.3 of the 4 are expected to be wrong by chance: 6 families have intervals" in head
    assert "Up to 0.0 of the 0" in expected_errors(tables[1])


def drawn(k, spread, seed):
    rng = np.random.default_rng(seed)
    errors = rng.uniform(0.5, 3, k)
    return rng.normal(1, np.hypot(errors, spread)), errors


@pytest.mark.parametrize("k", [4, 5, 9])
@pytest.mark.parametrize("spread", [0, 1, 5])
@pytest.mark.parametrize("seed", range(5))
def test_mean_and_variance_between_sets_are_those_of_statsmodels(k, spread, seed):
    effects, errors = drawn(k, spread, seed)
    found, known = pool(effects, errors), combine_effects(effects, errors**2, method_re="iterated", atol=1e-6)
    assert found.between**2 == pytest.approx(max(known.tau2, 0), rel=1e-5, abs=1e-9)
    assert found.estimate.mean == pytest.approx(known.mean_effect_re)
    assert found.estimate.df == k - 1
    weight = 1 / (errors**2 + found.between**2)
    left = [np.average(np.delete(effects, i), weights=np.delete(weight, i)) for i in range(k)]
    moved = found.estimate.mean - np.array(left)
    np.testing.assert_allclose(moved_without_each(effects, weight), moved, atol=1e-12)
    jackknife = np.sqrt((moved**2).sum())
    assert found.estimate.error == pytest.approx(max(known.sd_eff_w_re, known.sd_eff_w_re_hksj, jackknife))


def test_the_variance_between_sets_solves_its_equation():
    effects, errors = drawn(6, 5, 1)
    weight = 1 / (errors**2 + between_sets(effects, errors**2))
    assert (weight * (effects - np.average(effects, weights=weight)) ** 2).sum() == pytest.approx(5)
    assert between_sets(np.ones(4), np.ones(4)) == 0


@pytest.mark.parametrize("sizes", [(106, 225, 323, 784), (42, 50, 112, 225, 300, 1692)], ids=["4 sets", "6 sets"])
@pytest.mark.parametrize("spread", [0, 1, 2])
def test_coverage(sizes, spread):
    """At least .93 of sets of unequal size; bench/pooling.py draws more, and prints what simpler intervals cover."""
    rng, covered, new = np.random.default_rng(3), [], []
    errors = 0.1 / np.sqrt(sizes)
    for _ in range(1500):
        seen = errors * np.sqrt(rng.chisquare(np.array(sizes) - 1) / (np.array(sizes) - 1))
        pooled = pool(rng.normal(0, np.hypot(errors, spread * 0.006)), seen)
        low, high = pooled.estimate.interval(0.05)
        covered.append(low <= 0 <= high)
        low, high = pooled.new_set(0.05)
        new.append(low <= rng.normal(0, spread * 0.006) <= high)
    assert np.mean(covered) >= 0.93
    assert np.mean(new) >= 0.88


def test_a_set_in_which_nothing_differs_has_the_error_of_a_usual_set():
    sets = [{"error": e, "n": n, "differing": d} for e, n, d in ((0.1, 100, 60), (0.3, 400, 80), (0.0, 225, 0))]
    np.testing.assert_allclose(believed_errors(sets, 10), [0.1, 0.3, np.median([1, 6]) / 15])
    assert np.isnan(believed_errors(sets[2:], 10)).all()
    noisy = {"error": 9.0, "n": 225, "differing": 3}
    assert believed_errors([*sets, noisy], 10)[-1] == 9


def judged(*gains, forms=(), world="", deviation=0.01):
    """Verdicts on a set for each gain; ``forms`` are sets by the place of the set whose queries they share."""
    tables = []
    for i, gain in enumerate(gains):
        table = decide(DECLARATION, {f"s{i}": observations(gain, deviation)}, dataset=f"s{i}", world=world)
        tables.append(stamped(table, queries_of=f"s{dict(forms).get(i, i)}", configuration="a.yaml", commit="abc"))
    return pa.concat_tables(tables)


def test_the_average_is_decided_like_a_claim(tmp_path):
    single = judged(0.018, 0.02, 0.022, 0.02)
    rows = {row["claim"]: row for row in averages(single).to_pylist()}
    assert list(rows) == ["gain", "other gain", "shape", "control"]  # not the check, which is exact
    gain = rows["gain"]
    assert (gain["dataset"], gain["analysis"], gain["n"], gain["verdict"]) == (AVERAGE, SETS, 4, HOLDS)
    assert gain["effect"] == pytest.approx(0.02)
    assert (gain["level"], rows["control"]["level"]) == pytest.approx((0.025, 0.05))
    assert gain["note"].startswith("a new set: +0.0")
    assert gain["note"].endswith("sets: s0, s1, s2, s3")
    assert (gain["commit"], gain["configuration"]) == ("", "")
    write(tmp_path / "all.parquet", "verdicts", with_averages(single))
    assert averages(read(tmp_path / "all.parquet", "verdicts")).equals(averages(single))


def test_a_vote_of_open_sets_can_hold_and_of_sets_that_disagree_cannot():
    small = judged(0.006, 0.005, 0.007, 0.006, 0.006, 0.006)
    rare = decide(DECLARATION, {"s": observations(0.006, 0.03)}, dataset="s")
    assert {row["verdict"] for row in rare.to_pylist() if row["claim"] == "gain"} == {UNCLEAR}
    assert averages(small).to_pylist()[0]["verdict"] == HOLDS
    assert averages(judged(0.05, 0.05, -0.05, -0.05)).to_pylist()[0]["verdict"] == UNCLEAR
    assert averages(judged(-0.02, -0.021, -0.019, -0.02)).to_pylist()[0]["verdict"] == FAILS


def test_sets_in_which_almost_nothing_differs_have_a_mean_and_no_interval():
    row = averages(judged(0.01, 0.02, 0.03, 0.04, deviation=0)).to_pylist()[0]
    assert (row["effect"], row["low"], row["detectable"]) == (pytest.approx(0.025), None, None)
    assert (row["verdict"], row["reason"]) == (UNCLEAR, "in no set do 10 queries differ")
    assert row["note"] == "sets: s0, s1, s2, s3"
    figure = forest_of_sets(with_averages(judged(0.01, 0.02, 0.03, 0.04, deviation=0)), "toy", "control", {})
    assert figure.axes[0].get_xlabel().endswith("open: too little to judge")


@pytest.mark.parametrize(
    ("gains", "forms", "world"),
    [((0.02,) * 3, (), ""), ((0.02,) * 5, ((3, 0), (4, 0)), ""), ((0.02,) * 5, (), "a world")],
    ids=["three sets", "five sets of three", "simulated worlds"],
)
def test_too_few_independent_public_sets_have_no_average(gains, forms, world):
    assert len(averages(judged(*gains, forms=forms, world=world))) == 0


def test_of_sets_that_share_queries_the_first_counts():
    forms = judged(0.02, 0.02, 0.02, 0.02, 0.5, forms=((4, 1),))
    row = averages(forms).to_pylist()[0]
    assert (row["n"], row["effect"]) == (4, pytest.approx(0.02))
    assert row["note"].endswith("sets: s0, s1, s2, s3")


def test_a_row_has_all_that_makes_its_claim():
    single = judged(0.02)
    for row, claim in zip(single.to_pylist(), DECLARATION, strict=True):
        assert claim_of(row) == claim


def test_averages_stand_in_the_overview_as_a_data_set_does():
    single = judged(0.02, 0.02, 0.02, 0.02)
    whole = with_averages(single)
    overview = verdicts_overview(whole)
    assert overview.column_names[4] == AVERAGE
    assert overview.column(AVERAGE)[0].as_py() == "yes +0.020"
    assert {section_of(row) for row in averages(single).to_pylist()} <= {PUBLIC, CANNOT_TELL}
    assert {row["kind"] for row in whole.to_pylist()} <= set(CLAIM_KINDS)


@pytest.mark.parametrize("name", list(STUDIES))
def test_the_main_claim_of_a_study_is_one_difference_that_an_interval_decides(name):
    claims = {claim.name: claim for claim in present(name).claims}
    main = claims[STUDIES[name].main]
    assert len(main.pairs) == 1
    assert not CLAIM_KINDS[main.kind].exact


def test_the_figure_has_a_row_for_each_set_and_the_average_last():
    verdicts = with_averages(judged(0.02, 0.01, 0.02, 0.03, 0.5, forms=((4, 1),)))
    figure = forest_of_sets(verdicts, "toy", "control", {"s0": "The first"})
    (axes,) = figure.axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == ["The first, 100 queries", *(f"s{i}, 100 queries" for i in (1, 2, 3)), "average of 4 sets"]
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() in ("o", "D")]
    assert points == pytest.approx([0.02, 0.01, 0.02, 0.03, 0.02], abs=1e-6)
    bars = [segments for bar in axes.collections for segments in bar.get_segments()]
    row = next(row for row in verdicts.to_pylist() if (row["claim"], row["dataset"]) == ("control", AVERAGE))
    np.testing.assert_allclose(bars[4][:, 0], [row["low"], row["high"]])
    assert bars[5][0, 0] < row["low"]
    assert bars[5][1, 0] > row["high"]
    assert axes.get_title() == "Toy 2000: control is so: holds"


def test_the_figure_says_that_there_are_too_few_sets():
    figure = forest_of_sets(with_averages(judged(0.02, 0.01)), "toy", "control", {})
    assert "4 independent sets" in figure.axes[0].texts[0].get_text()
