"""Leaf functions of the training engine: numba if available, NumPy otherwise.

``compiled`` says which. Both offer the same functions; tests check the compiled ones against the uncompiled.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any


def _modules() -> dict[str, Any]:
    """The compiled modules by name, or the uncompiled one instead of each."""
    names = (  # in full, so that the digest of a job's code finds them
        "qdrank.learners.ranksvm.kernels.block",
        "qdrank.learners.ranksvm.kernels.curvature",
        "qdrank.learners.ranksvm.kernels.factors",
        "qdrank.learners.ranksvm.kernels.preparing",
        "qdrank.learners.ranksvm.kernels.single",
    )
    short = [name.rpartition(".")[2] for name in names]
    try:
        return dict(zip(short, map(import_module, names), strict=True))
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in ("numba", "llvmlite"):
            raise  # our own fault, not a platform without numba
        return dict.fromkeys(short, import_module("qdrank.learners.ranksvm.kernels.uncompiled"))


_of = _modules()
compiled = _of["block"] is not _of["single"]
evaluate_block: Any = _of["block"].evaluate_block
transpose: Any = _of["block"].transpose
evaluate_single: Any = _of["single"].evaluate_single
split_pairs: Any = _of["single"].split_pairs
active_diagonals: Any = _of["curvature"].active_diagonals
active_matrices: Any = _of["curvature"].active_matrices
hessian_single: Any = _of["curvature"].hessian_single
laplacian_images: Any = _of["curvature"].laplacian_images
factorise: Any = _of["factors"].factorise
solve_factors: Any = _of["factors"].solve_factors
arrange: Any = _of["preparing"].arrange


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: parallelism is by shards, and rounding must not depend on the number of cores."""
    limits: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limits


@cache
def _blas() -> Any:
    """The BLAS libraries of this process, cached because finding them takes as long as training a small model."""
    import_module("scipy.linalg")  # numba calls SciPy's BLAS, which must be loaded before its threads can be limited
    return import_module("threadpoolctl").ThreadpoolController()
