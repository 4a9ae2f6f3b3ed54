"""Leaf functions of the training engine, compiled by numba."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any

from qdrank.learners.ranksvm.kernels.block import evaluate_block, transpose
from qdrank.learners.ranksvm.kernels.curvature import (
    active_matrices,
    factorise,
    hessian_single,
    laplacian_images,
    solve_factors,
)
from qdrank.learners.ranksvm.kernels.pairs import arrange
from qdrank.learners.ranksvm.kernels.single import evaluate_single, split_pairs

__all__ = [
    "active_matrices",
    "arrange",
    "evaluate_block",
    "evaluate_single",
    "factorise",
    "hessian_single",
    "laplacian_images",
    "one_thread",
    "solve_factors",
    "split_pairs",
    "transpose",
]


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread: parallelism is by shards, and rounding must not depend on the number of cores."""
    limits: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limits


@cache
def _blas() -> Any:
    """The BLAS libraries of this process, cached because finding them takes as long as training a small model."""
    import_module("scipy.linalg")  # numba calls SciPy's BLAS, which must be loaded before its threads can be limited
    return import_module("threadpoolctl").ThreadpoolController()
