"""A digest that is part of the file.

Parquet's footer may hold free key-value pairs. The writer reserves the value of one of them (64 zeros), takes the
SHA-256 of the whole file in that state, and writes it over the zeros. A reader reverses these steps. Every
byte of the file is covered, including the footer, and the file is still an ordinary Parquet file.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import shlex
from pathlib import Path

from qdrank.errors import QdrankError

KEY = b"qdrank.sha256"
BLANK = b"0" * 64
_STEP = 1 << 22


class CorruptArtifact(QdrankError):
    """An artifact that was changed or damaged after it was written."""

    def __init__(self, path: str | os.PathLike[str], problem: str) -> None:
        super().__init__(
            f"{path}: {problem}\n"
            f"  fix:   delete the file and run the same command again; only what depends on it is made again\n"
            f"         rm {shlex.quote(os.fspath(path))}"
        )


def seal(path: Path) -> str:
    """Write the file's digest into its reserved place; return the digest."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as bytes_:
        place = _place(bytes_)
        if place is None or bytes_[place : place + 64] != BLANK:
            raise ValueError(f"{path} has no place reserved for a digest")
        digest = _digest(bytes_, place)
        bytes_[place : place + 64] = digest.encode()
    return digest


def verify(path: str | os.PathLike[str]) -> str:
    """Check the digest that the file carries; return it.

    Raises `CorruptArtifact` if the file is empty, carries no digest, or is not the file that was written.
    """
    with Path(path).open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise CorruptArtifact(path, "the artifact is empty")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_:
            place = _place(bytes_)
            if place is None:
                raise CorruptArtifact(
                    path, "it carries no digest: it is not an artifact of qdrank, or it was cut short"
                )
            recorded = bytes_[place : place + 64]
            if _digest(bytes_, place).encode() != recorded:
                raise CorruptArtifact(path, "the artifact was changed after it was written: its digest does not match")
    return recorded.decode()


def _place(bytes_: mmap.mmap) -> int | None:
    """Where the 64 digits are: after the last occurrence of the key, within the thrift-encoded footer."""
    key = bytes_.rfind(KEY)
    if key < 0:
        return None
    # The value follows the key: one byte for the field's type, one for its length (64), then the digits.
    place = bytes_.find(b"\x40", key + len(KEY), key + len(KEY) + 4)
    return place + 1 if place >= 0 and place + 65 <= len(bytes_) else None


def _digest(bytes_: mmap.mmap, place: int) -> str:
    sha256 = hashlib.sha256()
    for start in range(0, place, _STEP):
        sha256.update(bytes_[start : min(start + _STEP, place)])
    sha256.update(BLANK)
    for start in range(place + 64, len(bytes_), _STEP):
        sha256.update(bytes_[start : start + _STEP])
    return sha256.hexdigest()
