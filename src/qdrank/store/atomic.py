"""Writing a file so that it appears complete or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SUFFIX = ".partial"


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path; when the block ends without an error, its content is that of ``path``.

    A symbolic link is followed. A pipe or a device gets the content and stays what it is. An `OSError` names ``path``.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        special = path.exists() and not path.is_file()
        with _copied(path) if special else _renamed(Path(os.path.realpath(path))) as partial:
            yield partial
    except OSError as error:
        if error.filename is None or _SUFFIX in str(error.filename):
            error.filename = str(path)
        raise


@contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """A temporary path whose content is written to the pipe or device ``path``."""
    with tempfile.TemporaryDirectory() as folder:
        partial = Path(folder, path.name)
        yield partial
        with partial.open("rb") as made, path.open("wb") as file:
            shutil.copyfileobj(made, file)


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that becomes ``path``.

    The temporary file is in the same folder, so that the final rename stays within one file system. It keeps the
    suffix, because writers such as matplotlib choose the format by it. Files left over from a killed writer of the same
    file are removed first; if that writer is still alive, its rename fails and it changes nothing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for stale in path.parent.glob(f".{_escaped(path.name)}.*{_SUFFIX}*"):
        stale.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=_SUFFIX + path.suffix, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o666 & ~_umask())
        _sync(partial)
        partial.replace(path)
        _sync(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8 with LF line ends, atomically."""
    with atomic_path(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def _escaped(name: str) -> str:
    """``name`` as a glob pattern that matches only itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
