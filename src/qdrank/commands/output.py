"""What commands write: ``--output``, the same for all, and lines of tables."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from qdrank.errors import InputError
from qdrank.store.atomic import atomic_path


def add_output(parser: argparse.ArgumentParser, what: str = "") -> None:
    """Declare ``--output``; ``what`` is written."""
    words = "written completely or not at all, or a pipe or device (default, and -: standard output)"
    parser.add_argument("--output", metavar="FILE", help=f"{what}; {words}" if what else words)


def refuse_unwritable(output: str | None) -> None:
    """Raise before any work if nothing can be written there; a misspelt path must not make folders."""
    if output in (None, "-"):
        return
    path = Path(str(output))
    if path.is_dir():
        raise InputError("is a folder", file=path, fix="name a file in it")
    if not path.exists() and not path.is_symlink() and not path.parent.is_dir():
        fix = f"correct --output, or mkdir -p {shlex.quote(str(path.parent))}"
        raise InputError("no such folder", file=path.parent, fix=fix)
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError("may not be written by you", file=path, fix="name a file in a folder of yours")


@contextmanager
def opened(output: str | None) -> Iterator[TextIO]:
    """The output to write text to, or bytes to its ``buffer``."""
    if output in (None, "-"):
        yield sys.stdout
        return
    with atomic_path(str(output)) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def aligned(heads: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[int] = (0,)) -> list[str]:
    """Lines of a table; the columns ``words`` are left-aligned, the others right-aligned."""
    cells = [list(heads), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    shown = (
        [cell.ljust(w) if i in words else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))]
        for row in cells
    )
    return ["  ".join(row).rstrip() for row in shown]
