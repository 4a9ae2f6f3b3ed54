"""Lines of a text file, plain or compressed; every fault is reported with file and line."""

from __future__ import annotations

import gzip
import lzma
import re
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from qdrank.datasets.letor.files import open_bytes
from qdrank.errors import GRADE_FIX, InputError

COMPRESSED = (".xz", ".gz")
_DAMAGE = (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error)


def find(path: Path) -> Path | None:
    """``path`` itself, or its compressed form beside it, or None; ``-`` is standard input, and a pipe is a file too."""
    if path == Path("-") or path.is_fifo():
        return path
    places = [path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED)]
    return next((place for place in places if place.is_file()), None)


def existing(path: Path) -> Path:
    """Like `find`, but raises `InputError` if the file is missing."""
    place = find(path)
    if place is None:
        raise InputError("there is no such file (nor with .xz or .gz)", file=path, fix="check the folder of the data")
    return place


def lines(path: Path, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line of ``path``, without its end of line.

    Lines end at a line feed alone: other separators of Unicode may be inside a text.

    Raises `InputError` if the file is missing, damaged or not in ``encoding``.
    """
    place = existing(path)
    try:
        with _opened(place) as handle:
            for number, raw in enumerate(handle, start=1):
                yield number, _decoded(raw, number, place, encoding)
    except _DAMAGE as error:
        raise InputError(f"the compressed file is damaged: {error}", file=place, fix="fetch it again") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=place) from None


def _opened(place: Path) -> BinaryIO:
    if place.suffix == ".xz":
        return cast("BinaryIO", lzma.LZMAFile(place))
    return cast("BinaryIO", gzip.GzipFile(place) if place.suffix == ".gz" else open_bytes(place))


def _decoded(raw: bytes, number: int, place: Path, encoding: str) -> str:
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
        _refuse_old_mac(raw, place)
    try:
        return raw.decode(encoding).rstrip("\r\n")
    except UnicodeDecodeError as error:
        bad = raw[max(error.start - 20, 0) : error.end + 20]
        fix = f"convert the file to {encoding}; documents and queries in SMART or TREC form may also name their encoding, as in encoding: latin-1"
        raise InputError(f"not {encoding} text", file=place, line=number, found=bad, fix=fix) from None


def _refuse_old_mac(first: bytes, place: Path) -> None:
    """Raise if the first line runs to the end of the file because lines end with CR alone."""
    if b"\r" in first.rstrip(b"\r\n"):
        fix = f"convert it: tr '\\r' '\\n' < {shlex.quote(str(place))} > converted.txt"
        raise InputError("its lines end with CR alone, as on old Macs", file=place, line=1, fix=fix)


def rows(path: Path, n_columns: tuple[int, ...], *, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line that is not blank; columns are separated by white space or by ``separator``."""
    for number, line in lines(path):
        if not line.strip():
            continue
        columns = [column.strip() for column in line.split(separator)]
        if len(columns) not in n_columns or "" in columns:
            separated = "tabs" if separator == "\t" else "blanks"
            raise InputError(
                f"{len(columns)} columns, not {' or '.join(map(str, n_columns))}, or an empty one",
                file=path,
                line=number,
                found=line,
                fix=f"one judgment or one id per line, columns separated by {separated}",
            )
        yield number, columns


def integer(text: str, what: str, path: Path, line: int) -> int:
    """``text`` as a small whole number; raises `InputError` if it is not one."""
    if not re.fullmatch(r"[+-]?[0-9]{1,4}", text):
        fix = GRADE_FIX if what == "grade" else None
        raise InputError(f"the {what} is not a small whole number", file=path, line=line, found=text, fix=fix)
    return int(text)
