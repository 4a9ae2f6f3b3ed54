"""Is this the file? Contents recognised by sha256, or by git blob id where nothing better is public.

Archives may be hostile. Only the requested members are unpacked, each to the path that the caller gives: names inside the
archive never become paths here. A member that occurs twice or is no regular file is refused, and so are contents that are
far too large.
"""

from __future__ import annotations

import errno
import hashlib
import lzma
import stat
import struct
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from qdrank.datasets.sources import DataFile
from qdrank.datasets.textfiles import BROKEN, open_bytes
from qdrank.errors import InputError
from qdrank.store.atomic import atomic_path, write_text

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


#: Bytes that may come out of an archive for each of its own; a small one of very regular text may exceed it.
_RATIO, _FREE = 200, 64 << 20
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, NotImplementedError),
    *(ValueError, OverflowError, struct.error, RuntimeError),  # errors that the readers let through on a mangled header
)


def extract(archive: Path, wanted: Mapping[str, Path]) -> None:
    """Write each member of ``wanted`` (its path in the archive) to the path it is mapped to.

    A member is found by its path, or by the end of it where the archive wraps everything in one more folder.
    Either every member is written, each atomically, or an error is raised; members written before it remain.
    """
    with archive.open("rb") as handle:
        head = handle.read(4)
    if head == b"Rar!":
        fix = "unpack it with unrar x, 7z x or bsdtar -xf, and leave the files beside it"
        raise InputError("rar archives are not unpacked here", file=archive, fix=fix)
    with _told(archive), zipfile.ZipFile(archive) if head.startswith(b"PK") else tarfile.open(archive) as package:
        members: list[Any] = package.infolist() if isinstance(package, zipfile.ZipFile) else package.getmembers()
        names = [getattr(member, "filename", "") or member.name for member in members]
        names = [name.removeprefix("./") for name in names]
        budget = max(_FREE, archive.stat().st_size * _RATIO)
        for place, path in _match(names, wanted, archive).items():
            with _opened(package, members[place], names[place], archive) as source:
                budget -= _copy(source, path, archive, budget)


@contextmanager
def _told(archive: Path) -> Iterator[None]:
    """Report damage of any kind as a bad file."""
    try:
        yield
    except InputError:
        raise
    except _DAMAGE as error:
        # A mangled zip makes zipfile seek to nowhere (EINVAL); any other errno is the disk's, not the archive's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        problem = f"not a zip or tar archive, or damaged: {error}"
        raise InputError(problem, file=archive, fix="get it again") from None


def _refuse(archive: Path, problem: str, name: str) -> InputError:
    return InputError(problem, file=archive, found=name, fix="do not use this archive: get it from the publisher")


def _match(names: list[str], wanted: Mapping[str, Path], archive: Path) -> dict[int, Path]:
    """Place of a member in the archive to path outside, for every wanted member; each must be there once."""
    placed: dict[int, Path] = {}
    for member, path in wanted.items():
        hits = [place for place, name in enumerate(names) if name == member]
        hits = hits or [place for place, name in enumerate(names) if name.endswith("/" + member)]
        if not hits:
            raise InputError(f"the archive has no member {member}", file=archive, fix="is it the right archive?")
        if len(hits) > 1:
            raise _refuse(archive, f"the archive has {len(hits)} members {member}", names[hits[0]])
        placed[hits[0]] = path
    return placed


def _opened(package: zipfile.ZipFile | tarfile.TarFile, member: Any, name: str, archive: Path) -> IO[bytes]:
    """A member to read, if it is a regular file."""
    if isinstance(package, tarfile.TarFile):
        source = package.extractfile(member) if member.isreg() else None
    else:
        if member.flag_bits & 0x1:
            raise InputError("a member is encrypted", file=archive, found=name, fix="unpack it by hand")
        regular = not member.is_dir() and stat.S_IFMT(member.external_attr >> 16) in (0, stat.S_IFREG)
        source = package.open(member) if regular else None
    if source is None:
        raise _refuse(archive, "a member is not a regular file", name)
    return source


def _copy(source: IO[bytes], path: Path, archive: Path, budget: int) -> int:
    """Write ``source`` to ``path``; return the number of bytes, which must not exceed ``budget``."""
    written = 0
    with atomic_path(path) as partial, partial.open("wb") as target:
        while block := source.read(_CHUNK):
            written += len(block)
            if written > budget:
                raise _refuse(archive, "the archive contains far more than its size suggests", path.name)
            target.write(block)
    return written
