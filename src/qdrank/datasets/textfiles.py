"""Text files, plain or compressed: one opener, one account of line numbers, and a message for every failure.

The content decides how a file is opened, not its name: mirrors keep compressed and plain copies under either.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shlex
import stat
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from qdrank.errors import GRADE_FIX, AnyPath, InputError

BLOCK_BYTES = 1 << 24
LONGEST_LINE = 1 << 24
UTF8_MARK = b"\xef\xbb\xbf"
_STEP, _SMALL = 1 << 18, 1 << 20

_OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
_ZSTANDARD = b"\x28\xb5\x2f\xfd"
_PAGE = "is a page of the web", "download the file itself: this page may ask for a licence or a password"
_UTF16 = "is UTF-16 text", "convert it: iconv -f UTF-16 -t UTF-8 {file} > converted.txt"
#: Beginnings of files that hold no rows, with what they are and what to do with them.
_NOT_TEXT = {
    b"PK\x03\x04": ("is a zip archive", "unpack it first: unzip {file}"),
    b"Rar!": ("is a rar archive", "unpack it first: unrar x {file}, or bsdtar -xf {file}"),
    b"7z\xbc\xaf": ("is a 7z archive", "unpack it first: 7z x {file}, or bsdtar -xf {file}"),
    b"<!doctype": _PAGE,
    b"<html": _PAGE,
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
}
_TAR = slice(257, 262)
#: What reading raises where a compressed file is cut short or damaged.
BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def open_bytes(path: AnyPath) -> IO[bytes]:
    """Open a file for reading, decompressed if it begins as .gz, .xz, .bz2 or .zst files do; ``-`` is standard input."""
    try:
        source = _source(path)
        with source() as file:
            head = file.read(6)
    except OSError as error:
        fix = "give the path of a readable file"
        raise InputError(f"cannot be read: {error.strerror}", file=path, fix=fix) from None
    if head.startswith(_ZSTANDARD):
        import pyarrow as pa

        return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(source()), "zstd"))
    opener = next((opener for magic, opener in _OPENERS.items() if head.startswith(magic)), None)
    return source() if opener is None else cast("IO[bytes]", opener(source(), "rb"))


def is_uncompressed(path: AnyPath) -> bool:
    """Whether a path is that of a file that is not compressed, and no pipe."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return not file.read(6).startswith((*_OPENERS, _ZSTANDARD))


def _source(path: AnyPath) -> Callable[[], IO[bytes]]:
    """A function that opens the file as often as needed; a pipe is read once and its content kept."""
    piped = os.fspath(path) == "-"
    status = os.fstat(0) if piped else Path(path).stat()
    if not piped and not stat.S_ISFIFO(status.st_mode):
        return lambda: Path(path).open("rb")
    content = _piped("/dev/stdin" if piped else os.fspath(path), status.st_dev, status.st_ino)
    return lambda: io.BytesIO(content)


@lru_cache(maxsize=4)
def _piped(path: str, device: int, inode: int) -> bytes:  # noqa: ARG001 -- two pipes may have one name, one after the other
    return Path(path).read_bytes()


class Block(NamedTuple):
    """Whole lines of a file, each ended by a line feed, and the number (from 1) of the first."""

    text: bytes
    first: int

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Number and text of each line, without its end."""
        yield from enumerate((line.rstrip(b"\r") for line in self.text.split(b"\n")[:-1]), self.first)


def blocks(path: AnyPath, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """The lines of a file in blocks of about ``size`` bytes.

    Raises `InputError` if the file cannot be read, is cut short or corrupt in its compression, is no text, or has a line
    of more than `LONGEST_LINE` bytes. A UTF-8 byte-order mark at the start is dropped.
    """
    waiting, first = bytearray(), 1
    with open_bytes(path) as file:
        # Whatever decompresses before a fault is returned first, so that the fault is reported with its line.
        read = cast("Any", file).read1
        while True:
            try:
                piece: bytes = read(_STEP)
            except BROKEN as error:
                fix = "fetch or compress the file again; its size or checksum will differ from the original's"
                line = first + waiting.count(b"\n")
                raise InputError(f"is cut short or corrupt: {error}", file=path, line=line, fix=fix) from None
            if not piece:
                break
            waiting += piece
            cut = waiting.rfind(b"\n") + 1 if len(waiting) >= size else 0
            if cut > 0:
                text = bytes(memoryview(waiting)[:cut])
                yield _checked(text, first, path)
                first += text.count(b"\n")
                del waiting[:cut]
            if len(waiting) > max(size, LONGEST_LINE):
                raise _too_long(path, first, waiting)
    if waiting:
        yield _checked(bytes(waiting) if waiting.endswith(b"\n") else bytes(waiting + b"\n"), first, path)


def _checked(text: bytes, first: int, path: AnyPath) -> Block:
    """A block; the first one shows what kind of file it is."""
    if first > 1:
        return Block(text, first)
    known = (what for magic, what in _NOT_TEXT.items() if text[: len(magic)].lower() == magic.lower())
    what = ("is a tar archive", "unpack it first: tar -xf {file}") if text[_TAR] == b"ustar" else next(known, None)
    name = shlex.quote(os.fspath(path))
    if what is not None:
        raise InputError(what[0], file=path, line=1, found=text[:20], fix=what[1].format(file=name))
    if text.find(b"\n") == len(text) - 1 and text.count(b"\r") > 1:
        fix = f"convert it: tr '\\r' '\\n' < {name} > converted.txt"
        raise InputError("its lines end with CR alone, as on old Macs", file=path, line=1, fix=fix)
    return Block(text.removeprefix(UTF8_MARK), first)


def _too_long(path: AnyPath, line: int, read: bytearray) -> InputError:
    return InputError(
        f"has a line of more than {LONGEST_LINE >> 20} MiB",
        file=path,
        line=line,
        found=bytes(read[:200]),
        fix="give a text file with one document per line, ended by LF or CRLF",
    )


def lines(path: AnyPath) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes of each line, without its end."""
    for block in blocks(path, _SMALL):
        yield from block.lines()


def find(path: Path) -> Path | None:
    """``path`` itself, or its compressed form beside it, or None; ``-`` is standard input, and a pipe is a file too."""
    if path == Path("-") or path.is_fifo():
        return path
    places = [path, *(path.with_name(path.name + suffix) for suffix in (".xz", ".gz", ".bz2"))]
    return next((place for place in places if place.is_file()), None)


def existing(path: Path) -> Path:
    """Like `find`, but raises `InputError` if the file is missing."""
    place = find(path)
    if place is None:
        raise InputError(
            "there is no such file (nor with .xz, .gz or .bz2)", file=path, fix="check the folder of the data"
        )
    return place


def text_lines(path: Path, *, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each line of ``path`` or its compressed form, without its end.

    Lines end at a line feed alone: other separators of Unicode may be inside a text.
    """
    place = existing(path)
    for number, line in lines(place):
        try:
            yield number, line.decode(encoding)
        except UnicodeDecodeError as error:
            bad = line[max(error.start - 20, 0) : error.end + 20]
            fix = f"convert the file to {encoding}; documents and queries in SMART or TREC form may also name their encoding, as in encoding: latin-1"
            raise InputError(f"not {encoding} text", file=place, line=number, found=bad, fix=fix) from None


def rows(path: Path, n_columns: tuple[int, ...], *, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line that is not blank; columns are separated by white space or by ``separator``."""
    for number, line in text_lines(path):
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
