import numpy as np
import pytest
from tests.test_ledger import budget, present

from qdrank.errors import InputError
from qdrank.evaluation.deciding import QUERIES, SEEDS, THESE_WORLDS, VALUES, decide
from qdrank.evaluation.declared import CLAIM_KINDS, FAILS, HOLDS, UNCLEAR, Claim, Declaration
from qdrank.evaluation.estimates import over_queries
from qdrank.evaluation.values import Values, load_observations, observations_table
from qdrank.figures.verdicts import CANNOT_TELL, CHECKS, PUBLIC, SIMULATED, expected_errors, verdicts_overview
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
