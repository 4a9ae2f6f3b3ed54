"""Settings chosen on past queries without themselves, measured over all relevant documents of the collection."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from tests.text.test_judged_text import made

from qdrank.measures.compute import measure
from qdrank.studies.beyond.choosing import Chooser, Grid, answered, lexical, measured, searchable, text_parts
from qdrank.studies.beyond.retrievers import Lexical, Mixed
from qdrank.text.extract import TextSettings
from qdrank.text.retrieve import BM25, best_documents

GRID = Grid.of(
    BM25(),
    {"k1": [0.9, 2.0], "b": [0.4]},
    {"documents": [3], "terms": [4], "weight": [0.5]},
    copies=(1, 2),
    dimensions=4,
    weights=(0.0, 1.0),
)


@pytest.fixture(scope="module")
def world():
    return searchable(made(), TextSettings())


@given(
    scores=st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=1, max_size=4),
    n_top=st.integers(1, 8),
)
def test_the_best_documents_are_those_of_a_stable_sort(scores, n_top):
    matrix = np.array(scores, dtype=float)
    found = best_documents(matrix, n_top)
    for row, got, size in zip(matrix, found.document, found.size, strict=True):
        lowest = row == row.min()
        worth = [d for d in np.argsort(-row, kind="stable").tolist() if lowest.sum() == 1 or not lowest[d]]
        assert got[:size].tolist() == worth[:n_top]
        assert (got[size:] == -1).all()


def test_measures_count_relevant_documents_that_were_not_retrieved(world):
    ranking = best_documents(Lexical().scores(world.known(np.arange(5)), world.asked(np.arange(10), 5)), 7)
    got = measured(["ap", "ndcg@10/letor4", "r@10"], ranking, world.judgments[:10])
    for query in range(10):
        grades = world.judgments[[query]].toarray()[0]
        listed = ranking.document[query, : ranking.size[query]]
        rest = np.setdiff1d(np.flatnonzero(grades), listed)
        expected = measure(
            list(got),
            grades[listed],
            -np.arange(len(listed)),
            [0, len(listed)],
            unranked=(grades[rest], [0, len(rest)]),
        )
        assert {name: values[query] for name, values in got.items()} == pytest.approx(
            {name: values[0] for name, values in expected.items()}
        )


def test_what_is_chosen_is_the_best_on_past_queries(world):
    chooser = Chooser(world.known(np.arange(8)), GRID)
    parts = (*text_parts(chooser), *lexical(chooser, "past", GRID.copies))
    for _, choice in chooser.tried.values():
        assert choice.place == int(np.argmax(choice.values))
    mix = chooser.mix("mix", parts)
    assert mix.parts == parts
    value = chooser.value(mix.scores(chooser.known, chooser.asked))
    assert value == pytest.approx(chooser.tried["mix"][1].value, abs=1e-6)
    assert value >= chooser.tried["text-bm25"][1].value - 1e-6, "BM25 alone is among the mixes"


def test_queries_that_are_asked_have_no_say(world):
    """The judgments of other queries than the past ones decide nothing."""
    past = np.arange(6)
    blank = sparse.csr_array(world.judgments.multiply(np.arange(world.judgments.shape[0])[:, None] < 6))
    parts = []
    for judgments in (world.judgments, blank):
        chooser = Chooser(type(world)(world.text, world.words, judgments).known(past), GRID)
        parts.append(chooser.mix("mix", (*text_parts(chooser), *lexical(chooser, "past", GRID.copies))))
    assert parts[0] == parts[1]


def test_blocks_of_queries_change_nothing(world, monkeypatch):
    from qdrank.studies.beyond import choosing

    known, asked = world.known(np.arange(6)), world.asked(np.arange(6, 10), 6)
    mix = Mixed((Lexical(), Lexical(copies=2)), (1.0, 0.5))
    whole = next(answered(mix, known, asked, 5))[1]
    monkeypatch.setattr(choosing, "_SCORES", 2 * known.text.n_documents)
    blocks = list(answered(mix, known, asked, 5))
    assert [rows.start for rows, _ in blocks] == [0, 2]
    np.testing.assert_array_equal(np.vstack([ranking.document for _, ranking in blocks]), whole.document)


def test_words_of_queries_that_no_document_has_are_known(world):
    """A past query's word finds the documents that it was answered with, though no text has it."""
    names = [query.query_id for query in made().queries]
    ghost = names.index("q-ghost")
    known = world.known(np.array([ghost]))
    asked = world.asked(np.array([ghost]), 1)
    assert not Lexical().scores(known, asked).any()
    assert np.flatnonzero(Lexical(copies=1).scores(known, asked)[0]).tolist() == [0]
    assert not Lexical(copies=1).scores(known, known.past_asked).any(), "but not for the query itself"
