"""What a script of the workflow receives, with types, and what surrounds its work.

``from qdrank.workflow.script import job, snakemake`` gives a script the object that Snakemake puts into it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from qdrank import jobs
from qdrank.registry import restricted


class Named(Protocol):
    """Files or values of a job, by place or by name."""

    def __getitem__(self, key: int | str) -> Any: ...

    def __getattr__(self, name: str) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and their values."""
        ...

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, if there is such a name."""
        ...


class Script(Protocol):
    """A job as its script sees it."""

    input: Named
    output: Named
    params: Named
    wildcards: Named
    log: Named
    threads: int
    config: dict[str, Any]


snakemake: Script


def __getattr__(name: str) -> Any:
    """``snakemake``, from the script that is run."""
    if name != "snakemake":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return sys.modules["__main__"].__dict__[name]


@contextmanager
def job(script: Script) -> Iterator[logging.Logger]:
    """Run the work of a job with its log and threads; explain errors, and allow only code that its digest covers."""

    @cache
    def known() -> frozenset[str]:
        from qdrank.workflow.provenance import code_modules

        params = {name: value for name, value in script.params.items() if name != "code"}
        return code_modules(Path(str(sys.modules["__main__"].__file__)), params)

    with jobs.job(script.log[0], script.threads) as log, restricted(known):
        yield log
