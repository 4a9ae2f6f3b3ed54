"""What every job of a workflow does around its work: a log, and errors told in words."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdrank.errors import QdrankError

_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMBA_NUM", "ARROW_IO")
_FORMAT = "%(asctime)s %(message)s"


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

    A mistake of the user's is told once, in words, in the log and on standard error; the job then fails. Any other
    exception is a fault of the program: its traceback goes to both.
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
    except QdrankError as error:
        logger.error("%s", error)
        print(f"\nqdrank: {error}\n", file=sys.stderr)
        sys.exit(1)
    except Exception:
        logger.error("%s", traceback.format_exc())
        raise
    finally:
        logger.removeHandler(handler)
        handler.close()
