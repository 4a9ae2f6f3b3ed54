"""The line that shows a download's progress: often on a terminal, seldom in a log, and always the end."""

import io

import pytest

from qdrank.datasets.fetching import download as progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_line_every_ten_seconds(clock: list[float]) -> None:
    out = io.StringIO()
    shown = progress.Progress("set.zip", 4_000_000, out)
    for second in range(25):
        clock[0] = 100.0 + second
        shown.tell(second * 100_000)
    shown.close(4_000_000)
    assert out.getvalue().splitlines() == [
        "qdrank: set.zip  25 % of 4.0 MB",
        "qdrank: set.zip  50 % of 4.0 MB",
        "qdrank: set.zip 100 % of 4.0 MB",
    ]


def test_a_terminal_shows_one_line_that_changes(clock: list[float]) -> None:
    out = Terminal()
    shown = progress.Progress("a", None, out)
    for step in range(4):
        clock[0] = 100.0 + 0.15 * step
        shown.tell(step * 1_000_000)
    shown.close(3_500_000)
    assert out.getvalue() == "\rqdrank: a 0.0 MB\rqdrank: a 2.0 MB\rqdrank: a 3.5 MB\n"
