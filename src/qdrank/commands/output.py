"""``--output``: where a command writes, the same for all."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
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
