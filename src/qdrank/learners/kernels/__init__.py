"""Leaf functions of the training engine: numba where it can be had, plain NumPy otherwise.

``compiled`` says which. Both offer the same functions; the plain ones are the oracle of the compiled ones.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    _block: Any = import_module("qdrank.learners.kernels.block")
    _single: Any = import_module("qdrank.learners.kernels.single")
except ImportError:  # no numba on this platform
    _block = _single = import_module("qdrank.learners.kernels.plain")

compiled = _block is not _single
evaluate_block: Any = _block.evaluate_block
transpose: Any = _block.transpose
evaluate_single: Any = _single.evaluate_single
hessian_single: Any = _single.hessian_single
split_pairs: Any = _single.split_pairs
