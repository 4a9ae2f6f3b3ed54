import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.measures import CONVENTIONS, MEASURES
from qdrank.measures.compute import measure
from qdrank.measures.definition import Definition
from qdrank.measures.names import Measure, entry_of, parse


@pytest.mark.parametrize(
    "name",
    [
        "ap",
        "rr/trec",
        "ndcg@10/letor4",
        "mean_ndcg/geng",
        "dcg@5/zha",
        "ndcg/exp",
        "ap(rel=2)@100/trec",
        "rbp(rel=2,p=0.8)@10/trec_double",
        "ndcg(judged_only=True)@10/trec",
        "bpref(rel=3)",
    ],
)
def test_a_name_says_what_it_is_and_comes_back(name):
    assert parse(name).name == name


def test_parts_of_a_name():
    measured = parse("ndcg@10/letor4")
    assert measured == Measure("ndcg", 10, "letor4")
    assert (measured.definition, measured.title) == ("ndcg@k/letor4", "NDCG@10")
    assert [parse(name).title for name in ("ap", "rr", "mean_ndcg/geng", "p@3/letor3")] == [
        "MAP",
        "MRR",
        "mean NDCG",
        "P@3",
    ]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG@10", "ndcg@10/trec"),
        ("nDCG", "ndcg/trec"),
        ("AP(rel=2)@100", "ap(rel=2)@100/trec"),
        ("AP(rel=1)", "ap/trec"),
        ("AP(judged_only=True, rel=2)", "ap(rel=2,judged_only=True)/trec"),
        ("RR@10", "rr@10/trec"),
        ("P@20", "p@20/trec"),
        ("R@100", "r@100/trec"),
        ("Success@5", "success@5/trec"),
        ("Judged@10", "judged@10/trec"),
        ("Bpref", "bpref/trec"),
        ("RBP(p=0.8)@10", "rbp(p=0.8)@10/trec"),
        ("MAP", "ap/trec"),
        ("nDCG(dcg='log2')@10", "ndcg@10/trec"),
        ("ndcg_cut_10", "ndcg@10/trec"),
        ("ndcg_cut.5", "ndcg@5/trec"),
        ("map_cut_100", "ap@100/trec"),
        ("map", "ap/trec"),
        ("recip_rank", "rr/trec"),
        ("P_20", "p@20/trec"),
        ("recall_100", "r@100/trec"),
        ("success_5", "success@5/trec"),
    ],
)
def test_names_of_ir_measures_and_trec_eval_stand_for_trec_evals_definitions(theirs, ours):
    assert parse(theirs).name == ours
    if theirs != "MAP":
        assert parse(parse(theirs).ir_measures) == parse(theirs)
    assert parse(theirs, convention="letor4").name == ours if theirs != "MAP" else "ap"


def test_a_name_without_a_convention_takes_the_one_given():
    assert parse("ndcg@10", convention="trec").name == "ndcg@10/trec"
    assert parse("ndcg@10", convention="letor4").name == "ndcg@10/letor4"
    assert parse("MAP", convention="letor4").name == "ap"
    assert parse("ap", convention="trec").name == "ap", "a name that says everything stays as it is"
    assert parse("ndcg@10/exp").ir_measures == ""


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("AP(level=2)", "its parameters are rel, judged_only"),
        ("mean_ndcg(rel=2)/geng", "mean_ndcg has no parameters"),
        ("AP(rel=0)", "from 1"),
        ("RBP(p=1.5)", "between 0 and 1"),
        ("AP(judged_only=maybe)", "left out"),
        ("ncdg@10/exp", "did you mean ndcg@10/exp?"),
        ("ndcg@10/letor", "did you mean ndcg@10/letor4?"),
        ("ndcg@7", "say which convention: ndcg@7/letor4"),
        ("ERR@20", "the nearest in kind is ndcg@20/exp"),
        ("Rprec", "the nearest in kind is AP"),
        ("nDCG(dcg='exp-log2')@10", "write ndcg@10/exp,"),
        ("nDCG(dcg='other')@10", "log2 or exp-log2"),
        ("mrr", "did you mean rr?"),
        ("NDCG@10/letor", "did you mean ndcg@10/letor4?"),
        ("ndcg@0/exp", "for example"),
        ("ndcg@-1/exp", "for example"),
        ("", "for example"),
    ],
)
def test_an_unknown_name_is_told_its_neighbour(name, fix):
    with pytest.raises(InputError) as error:
        parse(name)
    assert fix in (error.value.fix or "")


@given(
    st.sampled_from([*MEASURES, "ndgc@10", "nDCG@10", "MAP", "fold1", "judged.parquet", "a b", ""]),
    st.sampled_from(["", "@5", "/trec", "(rel=2)", "(no=1)", "(rel=x)", ":"]),
)
def test_the_entry_of_a_name_is_that_of_the_measure(name, more):
    try:
        entry = parse(name.replace("@k", "@10") + more).definition
    except InputError:
        entry = ""
    assert entry_of(name.replace("@k", "@10") + more) == entry


def test_every_convention_lists_known_measures():
    assert {parse(name).definition for names in CONVENTIONS.values() for name in names} <= set(MEASURES)
    assert len(CONVENTIONS["letor4"]) == 1 + 10 + 10 + 1


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
