"""Extract named members from an archive that may be hostile.

Only the requested members are unpacked, each to the path that the caller gives: names inside the archive never become
paths here. A member that occurs twice or is no regular file is refused, and so are contents that are far too large.
"""

from __future__ import annotations

import errno
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from qdrank.errors import InputError
from qdrank.store.atomic import atomic_path

_CHUNK = 1 << 20
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
