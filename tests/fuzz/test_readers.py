"""Whatever stands in a file: it is read, or refused in words; no other exception, no hang, nothing half written."""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qdrank.errors import QdrankError
from tests.fuzz.readers import MARKS, Reader, readers

EXAMPLES = int(os.environ.get("QDRANK_FUZZ", "120"))
SECONDS = 10
CORPUS = Path(__file__).parent / "corpus"
SEEDS = Path(tempfile.mkdtemp(prefix="qdrank-fuzz-"))
READERS = readers(SEEDS)
counts: Counter[tuple[str, str]] = Counter()


@pytest.fixture(scope="module", autouse=True)
def _told() -> Iterator[None]:
    yield
    print("\n| reader | tried | read | refused |\n|---|--:|--:|--:|")
    for name in READERS:
        read, refused = counts[name, "read"], counts[name, "refused"]
        print(f"| {name} | {read + refused} | {read} | {refused} |")


@st.composite
def spoiled(draw: st.DrawFn, reader: Reader) -> tuple[str, bytes]:
    """One of the reader's files, with some of its bytes cut, doubled, flipped, or replaced by words of the format."""
    name = draw(st.sampled_from(sorted(reader.files)))
    content = reader.files[name]
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.binary(max_size=200))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(start + draw(st.integers(0, 12)), len(content))
        piece = draw(st.sampled_from((b"", content[start:end] * 2, *MARKS, *reader.words)) | st.binary(max_size=8))
        content = content[:start] + piece + content[end:]
    return name, content[: draw(st.integers(0, len(content)))] if draw(st.integers(0, 9)) == 1 else content


def read_or_refused(label: str, reader: Reader, changed: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, content in {**reader.files, **changed}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        began = time.process_time()
        refusal = None
        try:
            reader.read(folder)
        except QdrankError as error:
            refusal = str(error)
        counts[label, "read" if refusal is None else "refused"] += 1
        assert refusal != ""
        assert all(character.isprintable() or character == "\n" for character in refusal or ""), repr(refusal)
        assert time.process_time() - began < SECONDS
        assert not list(folder.rglob("*.partial*"))


@pytest.mark.parametrize("label", READERS)
def test_the_files_that_the_others_are_made_from_are_read(label: str) -> None:
    before = counts[label, "refused"]
    read_or_refused(label, READERS[label], {})
    assert counts[label, "refused"] == before


@pytest.mark.parametrize("label", READERS)
def test_spoiled_files_are_read_or_refused_in_words(label: str) -> None:
    reader = READERS[label]

    @given(spoiled(reader))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize="QDRANK_FUZZ" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    def fuzz(change: tuple[str, bytes]) -> None:
        read_or_refused(label, reader, dict([change]))

    fuzz()


@pytest.mark.parametrize("file", sorted(path for path in CORPUS.rglob("*") if path.is_file()), ids=lambda p: p.stem)
def test_past_failures_stay_fixed(file: Path) -> None:
    """``corpus/READER/WHAT@NAME`` stands for the file NAME of that reader."""
    label = file.parent.name
    read_or_refused(label, READERS[label], {file.name.partition("@")[2].replace("+", "/"): file.read_bytes()})
