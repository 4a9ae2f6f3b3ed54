"""What every job of a workflow does around its work: a log, and errors told in words."""

from __future__ import annotations

import errno
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdrank.errors import InputError, QdrankError

_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMBA_NUM", "ARROW_IO")
_FORMAT = "%(asctime)s %(message)s"
# What the machine refuses, in words.
_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "the file is larger than this machine allows",
    errno.EROFS: "the folder may only be read",
    errno.EACCES: "the file or folder may not be used by you",
}


def prepare_environment(source: Path) -> None:
    """Let jobs started from here find the library in ``source``, also where it is not installed, and use one thread.

    The workflow's engine decides how many jobs run at once; libraries that start threads of their own would only
    compete, and round differently.
    """
    paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(os.pathsep.join(paths).split(os.pathsep)))
    for library in _THREADS:
        os.environ[f"{library}_THREADS"] = "1"


@contextmanager
def job(log: str | Path) -> Iterator[logging.Logger]:
    """Log to a file while the block runs.

    A mistake of the user's, or a disk that refuses, is told once, in words, in the log and on standard error; the job then
    fails. Any other exception is a fault of the program: its traceback goes to both.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("qdrank")
    handler = logging.FileHandler(log, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT, "%Y-%m-%d %H:%M:%S"))
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield logger
        logger.info("done")
    except Exception as error:
        words = _in_words(error)
        logger.error("%s", words or traceback.format_exc())
        if words is None:
            raise
        print(f"\nqdrank: {words}\n", file=sys.stderr)
        sys.exit(1)
    finally:
        logger.removeHandler(handler)
        handler.close()


def _in_words(error: Exception) -> str | None:
    """What to tell the user; None where it is the program's fault."""
    if isinstance(error, QdrankError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _DISK:
        fix = "fix that and run the same command again: what was finished is kept, nothing half written is left"
        return str(InputError(_DISK[error.errno], file=error.filename, found=str(error), fix=fix))
    return None
