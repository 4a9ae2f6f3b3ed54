"""From evidence to the table of verdicts and the overview."""

from __future__ import annotations

import numpy as np
import pytest

from qdrank.errors import InputError
from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR, Claim, Declaration
from qdrank.evaluation.evidence import evidence_table, load_evidence, part
from qdrank.evaluation.judging import QUERIES, SEEDS, THESE_WORLDS, VALUES, judge
from qdrank.figures.verdicts import CANNOT_TELL, CHECKS, PUBLIC, SIMULATED, verdicts_overview, worlds_table
from qdrank.store import read, write


def declared(name, kind="superiority", **more):
    return Claim(name=name, text=f"{name} is so", expected="above 0", kind=kind, unit="NDCG", **more)


DECLARATION = Declaration(
    study="toy",
    paper="Toy 2000",
    claims=(
        declared("gain", margin=0.005, family="f", budget="12 settings each"),
        declared("other gain", margin=0.005, family="f"),
        declared("shape", "rise and fall", margin=0.005),
        declared("identity", "identical", group="check"),
        declared("control", margin=0.005, group="control"),
    ),
)


def spread(mean, deviation=0.01, n=100):
    x = np.linspace(-1, 1, n)
    return mean + deviation * x / x.std(ddof=1)


def evidence(gain=0.02, deviation=0.01, n=100):
    ids, folds = [f"q{i}" for i in range(n)], [f"fold{i % 5 + 1}" for i in range(n)]
    own = part(spread(gain, deviation, n), ids, folds)
    return {
        "gain": {"difference": own},
        "other gain": {"difference": own},
        "shape": {"rise": own, "fall": own},
        "identity": {"difference": part(np.zeros(3))},
        "control": {"difference": own},
    }


def by_claim(table):
    return {one["claim"]: one for one in table.to_pylist()}


def test_rows(tmp_path):
    table = judge(DECLARATION, {"toy": evidence()}, dataset="toy")
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


def test_evidence_survives_the_store(tmp_path):
    write(tmp_path / "evidence.parquet", "evidence", evidence_table(evidence(n=7)))
    found = load_evidence(read(tmp_path / "evidence.parquet", "evidence"))
    assert list(found) == list(evidence())
    own, was = found["shape"]["fall"], evidence(n=7)["shape"]["fall"]
    np.testing.assert_array_equal(own.value, was.value)
    assert own.query_id.tolist() == was.query_id.tolist()
    assert own.fold.tolist() == was.fold.tolist()
    assert found["identity"]["difference"].query_id.tolist() == ["", "", ""]


def test_a_claim_without_evidence_has_no_row():
    found = evidence()
    del found["other gain"]
    rows = by_claim(judge(DECLARATION, {"toy": found}, dataset="toy"))
    assert "other gain" not in rows
    assert rows["gain"]["level"] == pytest.approx(0.05)


def test_few_seeds_speak_of_these_worlds_only():
    seeds = {f"s{i}": evidence(gain) for i, gain in enumerate((0.02, 0.03, 0.04))}
    row = by_claim(judge(DECLARATION, seeds, dataset="sim", world="kinds of queries with rules of their own"))["gain"]
    assert (row["verdict"], row["analysis"], row["n"]) == (HOLDS, THESE_WORLDS, 300)
    assert row["reason"].endswith("3 seeds, 10 needed for a statement beyond these worlds")
    assert row["note"] == "by seed: +0.0200, +0.0300, +0.0400"


def test_ten_seeds_speak_of_the_world_and_may_disagree():
    seeds = {f"s{i}": evidence(gain) for i, gain in enumerate((-0.04, 0.06) * 5)}
    row = by_claim(judge(DECLARATION, seeds, dataset="sim", world="nothing"))["gain"]
    assert (row["verdict"], row["analysis"], row["n"]) == (UNCLEAR, SEEDS, 10)


def test_few_queries_say_nothing():
    row = by_claim(judge(DECLARATION, {"toy": evidence(n=9)}, dataset="toy"))["gain"]
    assert (row["verdict"], row["reason"]) == (UNCLEAR, "too few queries: 9, and 10 are needed")


def test_two_queries_have_no_interval_that_is_wider_than_a_measure_can_be():
    """Student's interval of two queries that differ by .5 and .1 is .3 +- 2.5."""
    found = {"gain": {"difference": part(np.array([0.5, 0.1]))}, "other gain": {"difference": part(np.full(10, 0.2))}}
    table = judge(DECLARATION, {"toy": found}, dataset="toy")
    rows = by_claim(table)
    figures = ("low", "high", "level", "p", "p_corrected", "detectable")
    assert [rows["gain"][name] for name in figures] == [None] * 6
    assert (rows["gain"]["effect"], rows["gain"]["n"]) == (pytest.approx(0.3), 2)
    assert rows["other gain"]["verdict"] == HOLDS  # ten queries are enough
    cells = {row["claim"]: row["toy"] for row in verdicts_overview(table).to_pylist()}
    assert cells["gain is so"] == "? +0.300 (too few queries)"


def test_seeds_of_real_data_are_refused():
    with pytest.raises(InputError, match="simulated world"):
        judge(DECLARATION, {"a": evidence(), "b": evidence()}, dataset="toy")


def test_seeds_with_other_parts_are_refused():
    other = evidence() | {"gain": {"another": part(np.zeros(3))}}
    with pytest.raises(InputError, match="b has other parts"):
        judge(DECLARATION, {"a": evidence(), "b": other}, dataset="toy", world="x")


def test_evidence_of_a_wrong_shape_is_refused():
    with pytest.raises(InputError, match="as many query ids"):
        part([1, 2, 3], ["a", "b"])


def test_the_overview_separates_findings_worlds_checks_and_what_is_open():
    import pyarrow as pa

    tables = [
        judge(DECLARATION, {"real": evidence(-0.02)}, dataset="real"),
        judge(DECLARATION, {"noisy": evidence(0.01, 0.5)}, dataset="noisy"),
        judge(DECLARATION, {"s1": evidence()}, dataset="sim", world="locality"),
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
    assert worlds_table(verdicts).to_pylist() == [
        {"data set": "sim", "built in": "locality", "statement": "these worlds only (*)"}
    ]
