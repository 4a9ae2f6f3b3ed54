"""An index that is kept on the disk is the one that would be built, and another one where anything differs."""

from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.collections.model import Documents
from qdrank.text.analyser import Analyser
from qdrank.text.index import build_index

PLAIN = Analyser(stemmer="none", stop_words="none")
BODIES = ["wing flow wing", "", "flow größe"]


def documents(bodies=BODIES, names=("d0", "d1", "d2")):
    return Documents(list(names), {"title": ["a wing", "plate", ""], "body": list(bodies)})


def contents(index):
    """Terms and counts of every field, as plain lists."""
    return {name: (index.terms, index.field(name).counts.toarray().tolist()) for name in ("title", "body", "both")}


@pytest.fixture
def built(monkeypatch):
    """Numbers the calls that had to count words, and keep what they counted."""
    from qdrank.text import index as module

    calls, keep = [], module._write
    monkeypatch.setattr(module, "_write", lambda *kept: calls.append(1) or keep(*kept))
    return calls


def test_a_kept_index_is_the_built_one(tmp_path: Path, built):
    place = tmp_path / ".index.npz"
    expected = contents(build_index(documents(), PLAIN))
    assert contents(build_index(documents(), PLAIN, place)) == expected
    assert contents(build_index(documents(), PLAIN, place)) == expected
    assert len(built) == 1


@pytest.mark.parametrize(
    ("other", "analyser"),
    [
        (documents(bodies=["wing flow", "wing", "flow größe"]), PLAIN),  # the same words, another border
        (documents(), Analyser(stemmer="english", stop_words="none")),
        (documents(), Analyser(stemmer="none", stop_words="snowball")),
    ],
    ids=["texts", "stemmer", "stop words"],
)
def test_other_texts_or_another_analysis_are_counted_anew(tmp_path: Path, built, other, analyser):
    place = tmp_path / ".index.npz"
    build_index(documents(), PLAIN, place)
    assert contents(build_index(other, analyser, place)) == contents(build_index(other, analyser))
    assert len(built) == 2


def test_names_of_documents_are_not_kept(tmp_path: Path):
    place = tmp_path / ".index.npz"
    build_index(documents(), PLAIN, place)
    assert list(build_index(documents(names=("x", "y", "z")), PLAIN, place).doc_id) == ["x", "y", "z"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
def test_a_broken_file_is_written_anew(tmp_path: Path, built, content):
    place = tmp_path / ".index.npz"
    place.write_bytes(content)
    for _ in range(2):
        assert contents(build_index(documents(), PLAIN, place)) == contents(build_index(documents(), PLAIN))
    assert len(built) == 1


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    index = build_index(documents(), PLAIN, tmp_path / "file" / ".index.npz")
    assert contents(index) == contents(build_index(documents(), PLAIN))


def test_texts_without_a_word_are_kept_too(tmp_path: Path, built):
    empty = Documents(["d0"], {"title": [""], "body": [""]})
    for _ in range(2):
        index = build_index(empty, PLAIN, tmp_path / ".index.npz")
        assert list(index.terms) == []
        assert np.asarray(index.field("both").counts.sum()) == 0
    assert len(built) == 1
