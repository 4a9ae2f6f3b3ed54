"""Compiled kernels: checking whether they exist, and compiling them before the first use."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path


def folder() -> Path:
    """Where Numba keeps the compiled kernels of this version."""
    return Path(os.environ["NUMBA_CACHE_DIR"])


def n_compiled() -> int:
    """Number of compiled functions in the cache."""
    place = folder()
    return sum(1 for _ in place.rglob("*.nbc")) if place.is_dir() else 0


class Announcer:
    """A finder of modules that calls `announce` when Numba is about to be imported: small files need no kernels."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004
        """Find nothing, so that the next finder is asked."""
        if name == "numba":
            announce()


def announce() -> None:
    """Say on standard error that a command will compile first, so that nobody wonders why it takes so long."""
    if n_compiled() == 0:
        print(
            "qdrank: compiling for this machine, once for this version (about 20 seconds; `qdrank doctor --compile` does it "
            "ahead)",
            file=sys.stderr,
        )


def compile_kernels() -> float:
    """Compile what ``qdrank evaluate`` and ``qdrank rank`` use, and the usual learner; return the seconds it took."""
    import numpy as np

    from qdrank.commands.evaluate import evaluate
    from qdrank.learners import LEARNERS
    from qdrank.measures import USUAL_CONVENTIONS

    began = time.perf_counter()
    rng = np.random.default_rng(0)
    y, query = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    X = rng.random((60, 4))
    with tempfile.TemporaryDirectory() as place:
        features, scores = Path(place) / "features.txt", Path(place) / "scores.txt"
        rows = (" ".join(f"{i}:{value}" for i, value in enumerate(row, 1)) for row in X.tolist())
        features.write_text("".join(f"{a} qid:{q} {row}\n" for a, q, row in zip(y, query, rows, strict=True)))
        scores.write_text("".join(f"{value}\n" for value in X[:, 0].tolist()))
        LEARNERS["ranksvm"]().fit(X, y, query)
        evaluate(features, scores, USUAL_CONVENTIONS)
    return time.perf_counter() - began
