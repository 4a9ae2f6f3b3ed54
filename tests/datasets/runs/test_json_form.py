"""Runs and judgments as JSON: what a JSON library writes is read, everything else is refused with its place."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.errors import InputError

NAMES = st.text(min_size=1, max_size=4)
NUMBERS = st.one_of(st.integers(-5, 5), st.floats(-1e6, 1e6))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_what_a_library_writes_comes_back(tmp_path: Path, content):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    run = read_run(path)
    expected = [(q, d, v) for q, documents in content.items() for d, v in documents.items()]
    assert list(zip(run.query, run.doc, run.score, strict=True)) == expected


def test_a_query_in_two_places_is_brought_together(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text('{"q1": {"a": 1}, "q2": {"b": 2}, "q1": {"c": 3}}')
    run = read_run(path)
    assert sorted(zip(run.query, run.doc, run.score, strict=True)) == [("q1", "a", 1), ("q1", "c", 3), ("q2", "b", 2)]
    assert run.query.tolist() in (["q1", "q1", "q2"], ["q2", "q1", "q1"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[1, 2]", "2 columns, not 4"),
        ('{"q1": 3}', "query q1: its documents are missing"),
        ("{}", "has no documents"),
        ('{"q1": {"a": "1"}}', "query q1, document a: the grade is not a number"),
        ('{"q1": {"a": true}}', "the grade is not a number"),
        ('{"q1": {"a": NaN}}', "the grade is not a number"),
        ('{"q1": {"a": 1e999}}', "the grade is not a number"),
        ('{"q1": {"a": 1.5}}', "the grade is not a whole number"),
        ('{"q1": {"a": 1, "a": 1}}', "document a comes again for query q1"),
        ('{"q1": {"a": 1},\n "q2"}', "not JSON"),
        ('{"q1": ' * 100_000, "not JSON"),
    ],
)
def test_everything_else_is_refused(tmp_path: Path, content, problem):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError, match=problem) as raised:
        read_qrels(path)
    assert "a.json" in str(raised.value)
    assert "fix:" in str(raised.value)
