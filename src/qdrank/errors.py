"""The errors a user may meet: each says where, what is wrong, what was found and how to fix it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

AnyPath = str | PathLike[str]
GRADE_FIX = (
    "grades are whole numbers, 0 for not relevant: cut real values into grades, such as 0 below 0.5 and 1 from 0.5 on"
)


class QdrankError(Exception):
    """An error that is the user's to fix; shown without a traceback.

    Names and messages may come from files and folders of unknown origin: nothing in them reaches a terminal raw.
    """

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(_printable, message.split("\n"))))


class InputError(QdrankError, ValueError):
    """Bad input: names the file, the line, what is wrong, the text found and the fix.

    Also a ``ValueError``, which callers of a library like scikit-learn expect.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        found: str | bytes | None = None,
        fix: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.found, self.fix = problem, file, line, found, fix
        super().__init__(self._message())

    def _message(self) -> str:
        where = "" if self.file is None else str(self.file)
        if self.line is not None:
            where += f", line {self.line}"
        rows = [f"{where}: {self.problem}" if where else self.problem]
        if self.found is not None:
            rows.append(f"  found: {_shown(self.found)}")
        if self.fix is not None:
            rows.append(f"  fix:   {self.fix}")
        return "\n".join(rows)


@contextmanager
def placed(file: AnyPath) -> Iterator[None]:
    """Name ``file`` in every `InputError` from within that names none."""
    try:
        yield
    except InputError as error:
        if error.file is not None:
            raise
        raise InputError(error.problem, file=file, line=error.line, found=error.found, fix=error.fix) from None


def _shown(found: str | bytes, limit: int = 100) -> str:
    """Text as it may be printed: one line, no control characters, cut to ``limit``."""
    text = found.decode("utf-8", "backslashreplace") if isinstance(found, bytes) else found
    shown = _printable(text[: limit + 1])
    return shown if len(text) <= limit else shown[:limit] + " ..."


def _printable(text: str) -> str:
    """``text`` with control characters, and others that do not print, written out."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
