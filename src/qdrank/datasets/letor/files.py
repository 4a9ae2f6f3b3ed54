"""Text files as blocks of whole lines, plain or compressed, with a message for every failure."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shlex
import stat
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError

BLOCK_BYTES = 1 << 24
LONGEST_LINE = 1 << 24
_STEP = 1 << 18

# The content decides, not the file's name: mirrors keep compressed and plain copies under either.
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
_UTF8_MARK = b"\xef\xbb\xbf"
_BROKEN = (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError)


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading, decompressed if it begins as .gz, .xz, .bz2 or .zst files do; ``-`` is standard input."""
    try:
        source = _source(path)
        with source() as file:
            head = file.read(6)
    except OSError as error:
        fix = "give the path of a readable file"
        raise InputError(f"cannot be read: {error.strerror}", file=path, fix=fix) from None
    if head.startswith(_ZSTANDARD):
        return _zstandard(source())
    for magic, opener in _OPENERS.items():
        if head.startswith(magic):
            return cast("IO[bytes]", opener(source(), "rb"))
    return source()


def is_uncompressed(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file that is not compressed, and no pipe."""
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return not file.read(6).startswith((*_OPENERS, _ZSTANDARD))


def _source(path: str | os.PathLike[str]) -> Callable[[], IO[bytes]]:
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


def _zstandard(file: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file), "zstd"))


def blocks(path: str | os.PathLike[str], size: int = BLOCK_BYTES) -> Iterator[NDArray[np.uint8]]:
    """Blocks of whole lines, each of about ``size`` bytes and ended by a line feed, shape (n_bytes,).

    Raises `InputError` if the file cannot be read, is cut short or corrupt in its compression, is UTF-16, or has a line
    of more than `LONGEST_LINE` bytes. A UTF-8 byte-order mark at the start is dropped.
    """
    waiting, first_line = bytearray(), 1
    with open_bytes(path) as file:
        # Whatever decompresses before a fault is returned first, so that the fault is reported with its line.
        read = cast("Any", file).read1
        while True:
            try:
                piece: bytes = read(_STEP)
            except _BROKEN as error:
                raise _broken(path, first_line + waiting.count(b"\n"), error) from None
            if not piece:
                break
            waiting += piece
            cut = waiting.rfind(b"\n") + 1 if len(waiting) >= size else 0
            if cut > 0:
                lines = bytes(memoryview(waiting)[:cut])
                yield _block(lines, path, first_line)
                first_line += lines.count(b"\n")
                del waiting[:cut]
            if len(waiting) > max(size, LONGEST_LINE):
                raise _too_long(path, first_line, waiting)
    if waiting:
        yield _block(bytes(waiting) if waiting.endswith(b"\n") else bytes(waiting + b"\n"), path, first_line)


def _broken(path: str | os.PathLike[str], line: int, error: Exception) -> InputError:
    fix = "fetch or compress the file again; its size or checksum will differ from the original's"
    return InputError(f"is cut short or corrupt: {error}", file=path, line=line, fix=fix)


def _block(lines: bytes, path: str | os.PathLike[str], first_line: int) -> NDArray[np.uint8]:
    if first_line == 1:
        _refuse_other_forms(lines, path)
    if first_line == 1 and lines.find(b"\n") in (-1, len(lines) - 1) and lines.count(b"\r") > 1:
        raise InputError(
            "its lines end with CR alone, as on old Macs",
            file=path,
            line=1,
            fix=f"convert it: tr '\\r' '\\n' < {shlex.quote(os.fspath(path))} > converted.txt",
        )
    start = len(_UTF8_MARK) if first_line == 1 and lines.startswith(_UTF8_MARK) else 0
    return np.frombuffer(lines, dtype=np.uint8)[start:]


def _refuse_other_forms(lines: bytes, path: str | os.PathLike[str]) -> None:
    """Raise if the beginning shows that this is no text with rows."""
    known = (what for magic, what in _NOT_TEXT.items() if lines[: len(magic)].lower() == magic.lower())
    what = ("is a tar archive", "unpack it first: tar -xf {file}") if lines[_TAR] == b"ustar" else next(known, None)
    if what is not None:
        fix = what[1].format(file=shlex.quote(os.fspath(path)))
        raise InputError(what[0], file=path, line=1, found=lines[:20], fix=fix)


def _too_long(path: str | os.PathLike[str], line: int, line_read: bytearray) -> InputError:
    return InputError(
        f"has a line of more than {LONGEST_LINE >> 20} MiB",
        file=path,
        line=line,
        found=bytes(line_read[:200]),
        fix="give a text file with one document per line, ended by LF or CRLF",
    )
