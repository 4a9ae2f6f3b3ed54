"""Extract named members from an archive that may be hostile.

Only the requested members are unpacked, each to the path that the caller gives: names inside the archive never become
paths here. An archive that tries to break out (a way up, an absolute path, a device, a link out of it) is refused
completely. So are members that occur twice, and contents that are far too large.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from qdrank.errors import InputError
from qdrank.store.atomic import atomic_path

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The most that an archive may contain: bytes in total, members, and bytes per byte of the archive."""

    total: int = 16 << 30
    members: int = 20_000
    ratio: int = 200
    # A small archive of a very regular text may exceed any ratio; this much is always allowed.
    free: int = 64 << 20

    def bytes_of(self, archive: Path) -> int:
        """How many bytes may come out of ``archive``."""
        return min(self.total, max(self.free, archive.stat().st_size * self.ratio))


DEFAULT = Limits()
Opener = Callable[[Path], Any]
_TAR: dict[bytes, Opener] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
_DAMAGE = (
    *(tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError, NotImplementedError),
    *(ValueError, OverflowError, struct.error, RuntimeError),  # errors that the readers let through on a mangled header
)


def extract(archive: Path, wanted: Mapping[str, Path], *, limits: Limits = DEFAULT) -> None:
    """Write each member of ``wanted`` (its path in the archive) to the path it is mapped to.

    A member is found by its path, or by the end of it where the archive wraps everything in one more folder.
    Either every member is written, each atomically, or an error is raised; members written before it remain.
    """
    with archive.open("rb") as handle:
        head = handle.read(265)
    with _told(archive):
        if head.startswith(b"PK"):
            _extract_zip(archive, wanted, limits)
        elif head.startswith(b"Rar!"):
            fix = "unpack it with unrar x, 7z x or bsdtar -xf, and leave the files beside it"
            raise InputError("rar archives are not unpacked here", file=archive, fix=fix)
        else:
            opener = next((opener for magic, opener in _TAR.items() if head.startswith(magic)), None)
            if opener is None and head[257:262] != b"ustar":
                raise InputError("neither a zip nor a tar archive", file=archive, found=head[:20])
            _extract_tar(archive, wanted, limits, opener or _as_it_is)


def _as_it_is(path: Path) -> IO[bytes]:
    return path.open("rb")


@contextmanager
def _told(archive: Path) -> Iterator[None]:
    """Report damage of any kind as a bad file."""
    try:
        yield
    except _DAMAGE as error:
        # A mangled zip makes zipfile seek to nowhere (EINVAL); any other errno is the disk's, not the archive's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise InputError(f"the archive is damaged: {error}", file=archive, fix="get it again") from None


def _refuse(archive: Path, problem: str, name: str) -> InputError:
    return InputError(problem, file=archive, found=name, fix="do not use this archive: get it from the publisher")


def _safe_name(name: str, archive: Path) -> str:
    """A member's name without leading ``./``; refused if it leads out of the folder it is unpacked in."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or (path.parts and path.parts[0].endswith(":")):
        raise _refuse(archive, "a member of the archive leads out of it", name)
    return str(path)


def _match(names: list[str], wanted: Mapping[str, Path], archive: Path) -> dict[str, Path]:
    """Name in the archive to path outside, for every wanted member; each must be there once."""
    placed: dict[str, Path] = {}
    for member, path in wanted.items():
        hits = [name for name in names if name == member] or [name for name in names if name.endswith("/" + member)]
        if not hits:
            raise InputError(f"the archive has no member {member}", file=archive, fix="is it the right archive?")
        if len(hits) > 1:
            raise _refuse(archive, f"the archive has {len(hits)} members {member}", hits[0])
        placed[hits[0]] = path
    return placed


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


def _count(n_members: int, limits: Limits, archive: Path) -> None:
    if n_members > limits.members:
        raise _refuse(archive, f"the archive has more than {limits.members} members", archive.name)


def _extract_zip(archive: Path, wanted: Mapping[str, Path], limits: Limits) -> None:
    with zipfile.ZipFile(archive) as package:
        members = package.infolist()
        _count(len(members), limits, archive)
        names = [_safe_name(member.filename, archive) for member in members]
        # The name is taken from the list, not looked up again: of two equal names a look-up would hide one.
        by_name = dict(zip(names, members, strict=True))
        budget = limits.bytes_of(archive)
        for name, path in _match(names, wanted, archive).items():
            member = by_name[name]
            kind = stat.S_IFMT(member.external_attr >> 16)
            if member.is_dir() or kind not in (0, stat.S_IFREG):
                raise _refuse(archive, "a member is not a regular file", name)
            if member.flag_bits & 0x1:
                raise InputError("a member is encrypted", file=archive, found=name, fix="unpack it by hand")
            with package.open(member) as source:
                budget -= _copy(source, path, archive, budget)


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than ``budget`` bytes: a bomb must not keep us reading without end."""

    def __init__(self, source: IO[bytes], budget: int, archive: Path) -> None:
        self._source, self._budget, self._archive = source, budget, archive

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._source.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._budget -= len(block)
        if self._budget < 0:
            raise _refuse(self._archive, "the archive contains far more than its size suggests", self._archive.name)
        return block


def _extract_tar(archive: Path, wanted: Mapping[str, Path], limits: Limits, opener: Opener) -> None:
    """Two passes over the stream: the first reads the names and refuses what is hostile, the second writes."""
    names = [name for name, _, _ in _tar_members(archive, limits, opener)]
    paths = _match(names, wanted, archive)
    for name, member, package in _tar_members(archive, limits, opener):
        if name in paths:
            source = package.extractfile(member) if member.isreg() else None
            if source is None:
                raise _refuse(archive, "a member is not a regular file", name)
            _copy(source, paths.pop(name), archive, limits.bytes_of(archive))
        if not paths:
            return


def _tar_members(
    archive: Path, limits: Limits, opener: Opener
) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    with opener(archive) as source:
        stream = _Bounded(source, limits.bytes_of(archive), archive)
        with tarfile.open(fileobj=stream, mode="r|") as package:
            for n_members, member in enumerate(package, start=1):
                _count(n_members, limits, archive)
                name = _safe_name(member.name, archive)
                _check_kind(member, name, archive)
                yield name, member, package


def _check_kind(member: tarfile.TarInfo, name: str, archive: Path) -> None:
    """Devices and pipes do not belong in a data set; links are allowed unless they lead out of the archive."""
    if member.isdev():
        raise _refuse(archive, "a member of the archive is a device or a pipe", name)
    if member.islnk():
        _safe_name(member.linkname, archive)
    if member.issym() and not _stays_inside(name, member.linkname):
        raise _refuse(archive, "a link of the archive leads out of it", f"{name} -> {member.linkname}")


def _stays_inside(name: str, link: str) -> bool:
    """Whether a symbolic link never takes more steps up than there are folders above it."""
    depth = len(PurePosixPath(name).parts) - 1
    for step in PurePosixPath(link).parts:
        depth += -1 if step == ".." else 1
        if depth < 0:
            return False
    return not PurePosixPath(link).is_absolute()
