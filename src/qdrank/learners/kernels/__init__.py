"""Leaf functions of the training engine: numba where it can be had, plain NumPy otherwise.

``compiled`` says which. Both offer the same functions; the plain ones are the oracle of the compiled ones.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
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
    limits: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limits


@cache
def _blas() -> Any:
    """The BLAS libraries of this process; looking for them takes as long as training a small model."""
    import_module("scipy.linalg")  # numba calls SciPy's BLAS, which must be loaded to be held
    return import_module("threadpoolctl").ThreadpoolController()
