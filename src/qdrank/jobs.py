"""What every job of a workflow does around its work: it keeps a log and explains errors; and work done ahead by threads."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import platform
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from qdrank.errors import InputError, QdrankError

_THREADS = ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMBA_NUM", "ARROW_IO")
_KERNELS: dict[str, tuple[str, set[str]]] = {
    "aarch64": ("ARMV8", set()),
    "arm64": ("ARMV8", set()),
    "x86_64": ("Haswell", {"avx2", "fma"}),
}
"""OpenBLAS kernel for every processor of an architecture, and the instructions that it needs."""
_GIVEN = "QDRANK_THREADS"
MISTAKES = Path(".snakemake", "qdrank-mistakes")
"""Where failed jobs leave their words, each in a file: the log's path, then the words (`qdrank.workflow.start`)."""
SAID_LAST = "QDRANK_SAID_LAST"
"""Variable that says that the run these jobs belong to ends with their words."""
_FORMAT = "%(asctime)s %(message)s"
# Explanations of what the machine refuses.
_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is used up",
    errno.EFBIG: "the file is larger than this machine allows",
    errno.EROFS: "the folder may only be read",
    errno.EACCES: "the file or folder may not be used by you",
}


def prepare_environment(source: Path) -> None:
    """Let jobs started from here find the library in ``source``, even if it is not installed, and round alike.

    They use one thread: the workflow's engine decides how many jobs run at once, and libraries that start more threads
    would only compete, and round differently. They also use one BLAS kernel for each architecture (`blas_kernel`),
    unless OPENBLAS_CORETYPE names another.
    """
    paths = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(os.pathsep.join(paths).split(os.pathsep)))
    for library in _THREADS:
        os.environ[f"{library}_THREADS"] = "1"
    os.environ["OMP_WAIT_POLICY"] = (
        "passive"  # else threads of LightGBM spin while they wait, and on busy cores for long
    )
    if kernel := blas_kernel(platform.machine(), processor_flags()):
        os.environ["OPENBLAS_CORETYPE"] = os.environ.get("OPENBLAS_CORETYPE") or kernel


def blas_kernel(architecture: str, flags: set[str]) -> str | None:
    """The one OpenBLAS kernel that all processors of an ``architecture`` with these ``flags`` use; None: leave it to OpenBLAS.

    Left to itself OpenBLAS picks a kernel by the model of the processor, and kernels round differently: a cluster of two
    generations would make models of two kinds.
    """
    kernel, needed = _KERNELS.get(architecture, ("", set()))
    return kernel if kernel and needed <= flags else None


def processor_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str]:
    """Instruction sets of the processor as Linux names them; empty where it does not say."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    return {flag for line in lines if line.startswith("flags") for flag in line.partition(":")[2].split()}


def threads_given() -> int:
    """Threads that the job may use; 1 outside a job."""
    return int(os.environ.get(_GIVEN, "1"))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def leave_pandas_out() -> None:
    """Save the half second that Arrow takes to import pandas.

    Arrow imports it with its first array, to recognise a pandas series. No job uses one. Once Arrow
    has found no pandas it does not look again; `import pandas` still works.
    """
    if "pyarrow" in sys.modules and "pandas" not in sys.modules:
        import pyarrow as pa

        sys.meta_path.insert(0, _NoPandas)
        try:
            pa.array([0])
        finally:
            sys.meta_path.remove(_NoPandas)


class _NoPandas:
    """A module finder that reports pandas as missing."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        if name == "pandas":
            raise ModuleNotFoundError(name)


@contextmanager
def job(log: str | Path, threads: int = 1) -> Iterator[logging.Logger]:
    """Log to a file while the block runs.

    ``threads`` are for work that gives the same bytes with any number of them (`threads_given`).

    A user's mistake, or a disk that refuses, is explained in the log, and once on the terminal: by the run, at its end,
    or here where no run does so. The job then fails.
    Any other exception is a fault of the program: its traceback goes to both.
    """
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("qdrank")
    handler = logging.FileHandler(log, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORMAT, "%Y-%m-%d %H:%M:%S"))
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    leave_pandas_out()
    os.environ[_GIVEN] = str(threads)
    try:
        yield logger
        logger.info("done")
    except Exception as error:
        words = _in_words(error)
        logger.error("%s", words or traceback.format_exc())
        if words is None:
            raise
        _keep(words, log)
        if SAID_LAST not in os.environ:
            print(f"\nqdrank: {words}\n", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:  # the run says that it was stopped
        sys.exit(128 + signal.SIGINT)
    finally:
        os.environ.pop(_GIVEN, None)
        logger.removeHandler(handler)
        handler.close()


def _keep(words: str, log: str | Path) -> None:
    """Keep what a failed job said, for the end of the run, in the workflow engine's folder."""
    if MISTAKES.parent.is_dir():
        MISTAKES.mkdir(exist_ok=True)
        name = hashlib.sha256(str(log).encode()).hexdigest()[:16]
        (MISTAKES / name).write_text(f"{log}\n{words}", encoding="utf-8")


def _in_words(error: Exception) -> str | None:
    """What to tell the user; None if the program is at fault."""
    if isinstance(error, QdrankError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _DISK:
        fix = "fix that and run the same command again: what was finished is kept, nothing half written is left"
        return str(InputError(_DISK[error.errno], file=error.filename, found=str(error), fix=fix))
    return None


def seconds(step: Callable[[], object], repeats: int = 3) -> float:
    """Processor time of the shortest of a few runs of ``step``, the one least disturbed by other processes."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        step()
        times.append(time.process_time() - began)
    return min(times)


Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Item], Iterable[Result]], items: Iterable[Item], helpers: int, ahead: int = 0
) -> Iterator[Result]:
    """The results of ``work`` for all items, in the order of the items.

    Without ``helpers``, an item is taken when its results are needed. With them, up to ``helpers`` items are processed
    at a time and up to ``ahead`` more may have been taken; all results of an item are then held in memory. Either way
    an error, whether from ``work`` or from ``items``, is raised after all results before it.
    """
    if helpers == 0:
        for item in items:
            yield from work(item)
        return
    source, fault = iter(items), None
    waiting: deque[Future[tuple[list[Result], Exception | None]]] = deque()
    pool = ThreadPoolExecutor(helpers)
    try:
        while fault is None:
            try:
                waiting.append(pool.submit(_tried, work, next(source)))
            except StopIteration:
                break
            except Exception as error:
                fault = error
            if len(waiting) > helpers + ahead:
                yield from _given(*waiting.popleft().result())
        while waiting:
            yield from _given(*waiting.popleft().result())
        if fault is not None:
            raise fault
    finally:
        pool.shutdown(cancel_futures=True)


def _tried(work: Callable[[Item], Iterable[Result]], item: Item) -> tuple[list[Result], Exception | None]:
    """The results of ``work``, and the error that ended it, if any."""
    results: list[Result] = []
    try:
        results.extend(work(item))
    except Exception as error:
        return results, error
    return results, None


def _given(results: list[Result], error: Exception | None) -> Iterator[Result]:
    yield from results
    if error is not None:
        raise error
