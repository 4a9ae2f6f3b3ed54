"""What the failed jobs of a run said, as the last words of the run."""

from __future__ import annotations

import os

from qdrank.jobs import MISTAKES, SAID_LAST
from qdrank.workflow.recorded import seen_from, words_from


def expect_mistakes() -> None:
    """A run begins: forget what jobs of an earlier one said, and let jobs of this one leave the saying to its end."""
    for file in MISTAKES.iterdir() if MISTAKES.is_dir() else ():
        file.unlink()
    os.environ[SAID_LAST] = "1"


def last_words(start: str | os.PathLike[str] = os.curdir) -> str:
    """What the failed jobs said, each thing once, however many said it; empty if none did.

    Paths in the folder of the run are shown as seen from ``start``.
    """
    logs: dict[str, list[str]] = {}
    for file in MISTAKES.iterdir() if MISTAKES.is_dir() else ():
        log, _, words = file.read_text(encoding="utf-8").partition("\n")
        logs.setdefault(words, []).append(seen_from(start, log))
    return "".join(
        f"\nqdrank: {words_from(start, words)}\n  log:   {_first(sorted(logs[words]))}\n" for words in sorted(logs)
    )


def _first(logs: list[str]) -> str:
    return logs[0] if len(logs) == 1 else f"{logs[0]}, and {len(logs) - 1} more that say the same"
