"""Is this the file? Contents recognised by sha256, or by git blob id where nothing better is public."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from qdrank.datasets.registry import DataFile
from qdrank.datasets.textfiles import BROKEN, open_bytes
from qdrank.errors import InputError
from qdrank.store.atomic import write_text

_CHUNK = 1 << 20
# The largest public data set is a few gigabytes of text; more than this is a mistake or an attack.
LARGEST_DOWNLOAD = 16 << 30


def opened(path: Path, name: str) -> IO[bytes]:
    """``path``, decompressed if its suffix differs from that of ``name``."""
    return path.open("rb") if path.suffix == Path(name).suffix else open_bytes(path)


def checked_blocks(handle: IO[bytes], *, largest: int = LARGEST_DOWNLOAD, file: Path | None = None) -> Iterator[bytes]:
    """The bytes of ``handle`` block by block, never more than ``largest`` in all."""
    total = 0
    while block := _read(handle, file):
        total += len(block)
        if total > largest:
            raise InputError(f"more than {largest} bytes", file=file, fix="this is not the file that is expected")
        yield block


def _read(handle: IO[bytes], file: Path | None) -> bytes:
    try:
        return handle.read(_CHUNK)
    except BROKEN as error:
        raise InputError(f"cannot be read: {error}", file=file, fix="the file is damaged: get it again") from None


def sha256(path: Path) -> str:
    """Sha256 of the bytes of ``path`` as they are."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        for block in checked_blocks(handle, file=path):
            digest.update(block)
    return digest.hexdigest()


def git_blob(path: Path, *, unix: bool = False) -> str:
    """Git's id of the content of ``path``; with ``unix`` of the content after CRLF became LF."""
    size = sum(len(block) for block in _lines_ends(path, unix))
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for block in _lines_ends(path, unix):
        digest.update(block)
    return digest.hexdigest()


def _lines_ends(path: Path, unix: bool) -> Iterator[bytes]:
    """The bytes of ``path``, CRLF turned to LF if ``unix``; a CR at the end of a block waits for the next."""
    held = b""
    with path.open("rb") as handle:
        for block in checked_blocks(handle, file=path):
            data = held + block
            held = b"\r" if unix and data.endswith(b"\r") else b""
            data = data.removesuffix(held) if held else data
            yield data.replace(b"\r\n", b"\n") if unix else data
    yield held


def check(path: Path, file: DataFile, *, origin: Path | str | None = None, record: Path | None = None) -> None:
    """Raise `InputError` unless ``path`` has an accepted content of ``file``.

    A file without a published digest is accepted with a warning, and its sha256 is written
    beside it (``record``, the same path with ``.sha256``); from then on that is its content.
    """
    digest = sha256(path)
    if not file.contents:
        _check_recorded(digest, file, record or path)
    elif not any(content.sha256 == digest for content in file.contents) and not _is_blob(path, file):
        raise InputError(
            f"not the content that is known as {file.name}",
            file=origin or path,
            found=f"sha256 {digest}, {path.stat().st_size} bytes",
            fix="get the file again; expected: " + ", ".join(map(_shown, file.contents)),
        )


def _shown(content: object) -> str:
    """A digest as it is shown to the user."""
    known = {key: value for key, value in vars(content).items() if value is not None}
    return " ".join(f"{key} {value}" for key, value in known.items())


def _is_blob(path: Path, file: DataFile) -> bool:
    blobs = {content.git_blob for content in file.contents if content.git_blob}
    return bool(blobs) and (git_blob(path) in blobs or git_blob(path, unix=True) in blobs)


def _check_recorded(digest: str, file: DataFile, path: Path) -> None:
    record = path.with_name(path.name + ".sha256")
    if record.is_file():
        if record.read_text(encoding="utf-8").split()[:1] != [digest]:
            raise InputError(
                "the file is not the one that was first accepted",
                file=path,
                found=f"sha256 {digest}",
                fix=f"put the first file back, or remove {record} if you replaced it on purpose",
            )
        return
    warnings.warn(
        f"{path}: no published digest of {file.name} is known; accepted as it is, sha256 {digest}", stacklevel=4
    )
    write_text(record, f"{digest}  {path.name}\n")
