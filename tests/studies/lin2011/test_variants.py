"""The inferred choices varied one by one."""

from __future__ import annotations

import pytest
from tests.studies.lin2011.lin_world import GRID, fold

from qdrank.studies.lin2011.methods import ALGORITHMS, NAIVE, SELECT, TRANSFORM
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.lin2011.sweep import best, validated
from qdrank.studies.lin2011.tables import readings_table
from qdrank.studies.lin2011.variants import variants, variants_table


@pytest.fixture(scope="module")
def study():
    return fold(variants=1)


@pytest.fixture(scope="module")
def table(study):
    return variants_table("fold1", study, GRID, 1)


def test_every_choice_is_varied():
    found = list(variants(Readings(**Lin().readings())))
    varied = {one.choice for one in found}
    # precisions of an inner split need models of their own, and "top" belongs to one transformation
    assert varied == {"", *Lin().readings()} - {"confidence_from", "top"}
    assert len({(one.choice, one.value) for one in found}) == len(found)


def test_the_first_variant_is_the_study_itself(study, table):
    own = {r["method"]: r for r in table.to_pylist() if not r["choice"]}
    for method in (NAIVE, SELECT, TRANSFORM):
        values = validated(study, {method: ALGORITHMS[method]}, 1, GRID)[method]
        assert own[method]["validation"] == pytest.approx(values[best(values)])


def test_a_choice_changes_the_methods_it_concerns(table):
    rows = table.to_pylist()
    assert {r["method"] for r in rows if r["choice"] == "score_scale"} == {SELECT, TRANSFORM}
    assert {r["method"] for r in rows if r["choice"] == "transformation"} == {TRANSFORM}
    assert {r["method"] for r in rows if r["choice"] == "training_set"} == {NAIVE, SELECT}
    assert all(0 < r["test_sum"] <= r["queries"] for r in rows)


def test_the_table_to_read_has_differences_from_the_study(table):
    rows = readings_table(table.to_pandas()).to_dict("records")
    own = [r for r in rows if r["choice"] == "as the study"]
    assert len(own) == 3
    assert all(r["difference (validation)"] == 0 for r in own)
    assert len(rows) == len(table)


def test_without_seeds_there_are_no_variants(study):
    empty = variants_table("fold1", study, GRID, 0)
    assert len(empty) == 0
    assert len(readings_table(empty.to_pandas())) == 0
