"""What jobs ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdrank.workflow import resources
from qdrank.workflow.resources import TEXT_THREADS, input_mb, memory, minutes, reading_threads


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    sizes = {"small": 1, "large": 50}
    for name, mb in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(mb * 2**20)
    return {name: str(tmp_path / name) for name in sizes}


def test_sizes_are_added(files: dict[str, str]) -> None:
    assert input_mb(files.values()) == 51
    assert input_mb([]) == 0


@pytest.mark.parametrize("ask", [memory, minutes])
def test_memory_and_time_grow_with_the_input_and_with_every_retry(ask: object, files: dict[str, str]) -> None:
    asked = [ask(100, 2)(None, input=[files[name]], attempt=n) for name in files for n in (1, 2)]  # type: ignore[operator]
    assert asked == [102, 204, 200, 400]


def test_a_small_input_has_room_and_a_limit_without_input_is_whole() -> None:
    assert memory(100, 30)(None, input=[], attempt=1) == 130
    assert minutes(0.5)(None, input=["not there"], attempt=1) == 1


def test_large_text_is_read_by_several_threads(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading_threads(None, input=[files["large"], "not fetched yet"]) == 1
    monkeypatch.setattr(resources, "_LARGE_TEXT_MB", 49)
    assert reading_threads(None, input=[files["large"]]) == TEXT_THREADS
