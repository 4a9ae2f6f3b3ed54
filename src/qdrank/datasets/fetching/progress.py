"""One line on stderr that shows the progress of a download."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Reports progress, at most five times a second on a terminal and every ten seconds in a log."""

    def __init__(self, name: str, total: int | None, stream: TextIO | None = None) -> None:
        self._name, self._total = name, total
        self._stream = stream if stream is not None else sys.stderr
        self._live = self._stream.isatty()
        self._next = time.monotonic() + (0.0 if self._live else 10.0)

    def tell(self, done: int) -> None:
        """Show that ``done`` bytes are here, if it is time to."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + (0.2 if self._live else 10.0)
            self._write(done, end="" if self._live else "\n")

    def close(self, done: int) -> None:
        """Show the last state and end the line."""
        self._write(done, end="\n")

    def _write(self, done: int, end: str) -> None:
        share = f"{100 * done / self._total:3.0f} % of {_megabytes(self._total)}" if self._total else _megabytes(done)
        print(f"{chr(13) if self._live else ''}qdrank: {self._name} {share}", end=end, file=self._stream, flush=True)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
