"""What every job of a workflow does around its work: a log, and errors told in words."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdrank.errors import QdrankError

_FORMAT = "%(asctime)s %(message)s"


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
