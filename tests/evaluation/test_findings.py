"""Files of findings: they have each value once, and decide as the values that they were made of."""

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pytest

from qdrank.evaluation.deciding import QUERIES, SOURCES, decide
from qdrank.evaluation.findings import decided_again, write_findings
from qdrank.evaluation.values import Values, load_observations, observations_table, observe, six_digits
from qdrank.store import read, read_about, write
from qdrank.studies.hybrid.claims import declare
from qdrank.studies.hybrid.methods import CHOSEN, FIXED, MEASURE, OF_CHOSEN, TREES

BUDGET = {"ks": [5], "lambdas": [0.1], "leaves": [4], "powers": [1.0]}
CLAIMS = "qdrank.studies.hybrid.claims:declare"
FITS = {FIXED: 1, CHOSEN: 3, OF_CHOSEN: 3, TREES: 3}


def measured(seed: int, queries: int = 200) -> pd.DataFrame:
    """Values of four methods, three of them fitted three times, in an order of their own."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0, 1, queries)
    rows = [
        {"method": name, "fold": f"fold{q % 5 + 1}", "query_id": f"q{q}", "fit": fit}
        | {MEASURE: base[q] + (0.02 if name == CHOSEN else 0) + rng.normal(0, 0.03), "other": 0.0}
        for name, fits in FITS.items()
        for q in rng.permutation(queries)
        for fit in range(fits)
    ]
    return pd.DataFrame(rows)


OWN = {"all neighbours": {"value": Values(np.zeros(5), "", [f"fold{i}" for i in range(5)])}}


@pytest.fixture
def file(tmp_path):
    """Findings on two public sets, and on two seeds of a world."""
    for seed, name in enumerate(("one", "two", "s1", "s2")):
        write(tmp_path / name, "observations", observations_table(OWN, measured(seed), declare(BUDGET)))
    members = {"one": ["one"], "two": ["two"], "s1": ["s1", "s2"]}
    about = {
        "study": "hybrid",
        "budget": BUDGET,
        "members": members,
        "worlds": {"one": "", "two": "", "s1": "built in"},
        "queries_of": {"one": "same", "two": "same", "s1": "s1"},
        "configuration": "toy.yaml",
        "commit": "abcdef0",
    }
    names = [name for of in members.values() for name in of]
    write_findings(tmp_path / "findings.parquet", about, {name: tmp_path / name for name in names})
    return tmp_path / "findings.parquet"


def test_a_file_decides_as_the_values_do(file):
    rows = decided_again(file, CLAIMS, "").to_pylist()
    assert {row["dataset"] for row in rows} == {"one", "two", "s1 (2 seeds)"}
    assert {(row["commit"], row["configuration"]) for row in rows} == {("abcdef0", "toy.yaml")}
    assert {row["queries_of"] for row in rows} == {"same", "s1"}
    whole = declare(BUDGET)
    expected = decide(whole, {"two": observe(whole, measured(1), OWN)}, dataset="two").to_pylist()
    found = [row for row in rows if row["dataset"] == "two"]
    assert [row["claim"] for row in found] == [row["claim"] for row in expected]
    assert {"gain", "control", "all neighbours", "chosen - trees"} <= {row["claim"] for row in found}
    for row, other in zip(found, expected, strict=True):
        assert (row["verdict"], row["n"], row["fits"]) == (other["verdict"], other["n"], other["fits"])
        figures = [name for name in ("effect", "low", "high", "fit_spread", "boot_low") if other[name] is not None]
        assert [row[name] for name in figures] == pytest.approx([other[name] for name in figures], abs=2e-6)


def test_sets_with_and_without_sources_share_a_file(tmp_path):
    source = {f"q{q}": f"s{q // 2}" for q in range(200)}
    for name, of in (("one", source), ("two", None)):
        write(tmp_path / name, "observations", observations_table(OWN, measured(1), declare(BUDGET), of))
    about = {"study": "hybrid", "budget": BUDGET, "configuration": "toy.yaml", "commit": "abcdef0"}
    about |= {"members": {"one": ["one"], "two": ["two"]}, "worlds": {"one": "", "two": ""}}
    about |= {"queries_of": {"one": "one", "two": "two"}}
    write_findings(tmp_path / "findings.parquet", about, {name: tmp_path / name for name in ("one", "two")})
    rows = {
        (row["dataset"], row["claim"]): row
        for row in decided_again(tmp_path / "findings.parquet", CLAIMS, "").to_pylist()
    }
    of_gain = [rows[name, "gain"] for name in ("one", "two")]
    assert [(row["analysis"], row["n"]) for row in of_gain] == [(SOURCES, 100), (QUERIES, 200)]


def test_a_value_is_kept_once_whatever_the_number_of_claims(file):
    table = read(file, "findings")
    of_one = table.filter(pc.equal(table.column("dataset"), "one")).to_pandas()
    of_methods = of_one[of_one["method"] != ""]
    assert of_methods.groupby("method").size().to_dict() == {name: 200 * fits for name, fits in FITS.items()}
    assert set(of_methods["measure"]) == {MEASURE}
    assert of_one["query_id"].is_monotonic_increasing
    assert len(of_one) - len(of_methods) == 5
    assert read_about(file, "findings")["members"]["s1"] == ["s1", "s2"]


def test_a_claim_declared_later_is_decided_where_its_methods_were_kept(file):
    table = read(file, "findings").drop_columns(["dataset"]).slice(0, 2005)
    (later,) = (claim for claim in declare(BUDGET) if claim.name == "gain")
    assert list(load_observations(table, [later])) == ["gain", "all neighbours"]


def test_six_digits_keep_what_is_not_zero():
    values = np.array([1 / 3, 1e-16, 0.0, -12345678.0, np.nan, np.inf])
    assert six_digits(values).tolist() == pytest.approx(
        [0.333333, 1e-16, 0.0, -12345700.0, np.nan, np.inf], nan_ok=True
    )
    assert six_digits(values)[1] != 0
