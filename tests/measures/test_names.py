from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import qdrank.measures
from qdrank.errors import InputError
from qdrank.measures import CONVENTIONS, MEASURES, Measure, measure, parse, parse_slug
from qdrank.measures.ranking import Definition


@pytest.mark.parametrize("name", ["ap", "rr/trec", "ndcg@10/letor4", "mean_ndcg/geng", "dcg@5/zha", "ndcg/exp"])
def test_a_name_says_what_it_is_and_comes_back(name):
    assert parse(name).name == name
    assert parse_slug(parse(name).slug) == parse(name)
    assert not set(parse(name).slug) & set("/@ ")


def test_parts_of_a_name():
    measured = parse("ndcg@10/letor4")
    assert measured == Measure("ndcg", 10, "letor4")
    assert (measured.definition, measured.slug, measured.title) == ("ndcg@k/letor4", "ndcg-10-letor4", "NDCG@10")
    assert [parse(name).title for name in ("ap", "rr", "mean_ndcg/geng", "p@3/letor3")] == [
        "MAP",
        "MRR",
        "mean NDCG",
        "P@3",
    ]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("ncdg@10/exp", "did you mean ndcg@10/exp?"),
        ("ndcg@10/letor", "did you mean ndcg@10/letor4?"),
        ("ndcg@7", "say which convention: ndcg@7/letor4"),
        ("map", "did you mean ap?"),
        ("mrr", "did you mean rr?"),
        ("NDCG@10/exp", "for example ndcg@10/letor4"),
        ("ndcg@0/exp", "for example"),
        ("ndcg@-1/exp", "for example"),
        ("", "for example"),
    ],
)
def test_an_unknown_name_is_told_its_neighbour(name, fix):
    with pytest.raises(InputError) as error:
        parse(name)
    assert fix in (error.value.fix or "")


def test_every_convention_lists_known_measures():
    assert {parse(name).definition for names in CONVENTIONS.values() for name in names} <= set(MEASURES)
    assert len(CONVENTIONS["letor4"]) == 1 + 10 + 10 + 1


def test_every_definition_can_be_loaded():
    assert all(isinstance(definition, Definition) for definition in MEASURES.values())


def test_public_names_load_lazily():
    assert all(callable(getattr(qdrank.measures, name)) for name in qdrank.measures._PUBLIC)
    with pytest.raises(AttributeError):
        _ = qdrank.measures.nonsense


def test_checking_a_name_loads_no_heavy_library():
    check = "import sys, qdrank.measures as m; m.parse('ndcg@10/exp'); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


class LastGrade(Definition):
    """A toy: the grade of the last document."""

    def values(self, ranking, cutoffs):
        return ranking.grades[ranking.judgements.offsets[1:] - 1][:, None].astype(float)


LAST = LastGrade()


def test_a_measure_is_added_by_one_entry(monkeypatch):
    monkeypatch.setitem(sys.modules, "toy_measure", sys.modules[__name__])
    monkeypatch.setattr(MEASURES, "_entries", dict(MEASURES._entries))
    MEASURES.add("last/toy", "toy_measure:LAST")
    values = measure(["last/toy", "ap"], [2, 0, 1, 0], [1.0, 3.0, 5.0, 2.0], [0, 2, 4])
    np.testing.assert_array_equal(values["last/toy"], [2, 0])


def test_the_documentation_names_every_measure(project):
    text = (project / "docs" / "measures.md").read_text(encoding="utf-8")
    assert [name for name in [*MEASURES, *CONVENTIONS] if f"`{name}`" not in text] == []
