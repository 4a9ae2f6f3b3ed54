"""Leaf functions of the training engine: numba where it can be had, plain NumPy otherwise.

``compiled`` says which. Both offer the same functions; the plain ones are the oracle of the compiled ones.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

try:
    _block: Any = import_module("qdrank.learners.kernels.block")
    _single: Any = import_module("qdrank.learners.kernels.single")
except ModuleNotFoundError as missing:
    if missing.name is None or missing.name.partition(".")[0] not in ("numba", "llvmlite"):
        raise  # a fault of ours, not a platform without numba
    _block = _single = import_module("qdrank.learners.kernels.plain")

compiled = _block is not _single
evaluate_block: Any = _block.evaluate_block
transpose: Any = _block.transpose
evaluate_single: Any = _single.evaluate_single
hessian_single: Any = _single.hessian_single
split_pairs: Any = _single.split_pairs


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: parallelism is by shards, and rounding must not depend on the number of cores."""
    import_module("scipy.linalg")  # numba calls SciPy's BLAS, which must be loaded to be held
    limits: AbstractContextManager[Any] = import_module("threadpoolctl").threadpool_limits(1, user_api="blas")
    return limits
