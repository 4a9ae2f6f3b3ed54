"""Blocks of models, shards of blocks, and the order that keeps neighbours together."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence

import numpy as np

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray

ProgressCallback = Callable[[int, int], None]
"""Called with the number of finished models and the total number."""


def locality_order(vectors: FloatArray, block: int) -> IntArray:
    """Order of the rows of ``vectors`` (n, d) in which each block of ``block`` rows is a neighbourhood.

    Splits the rows in half along their main direction, at a whole number of blocks, until single blocks remain. Models
    of a block then share many training queries, and each query is read for many models at once.
    """
    rows = np.arange(len(vectors))
    return np.concatenate(_halved(np.asarray(vectors, dtype=np.float64), rows, block)) if len(rows) else rows


def _halved(vectors: FloatArray, rows: IntArray, block: int) -> list[IntArray]:
    if len(rows) <= block:
        return [rows]
    spread = vectors[rows] - vectors[rows].mean(axis=0)
    direction = np.linalg.eigh(spread.T @ spread)[1][:, -1]
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    ordered = rows[np.argsort(spread @ direction, kind="stable")]
    blocks = -(-len(rows) // block)
    middle = (blocks + 1) // 2 * block
    return _halved(vectors, ordered[:middle], block) + _halved(vectors, ordered[middle:], block)


def block_size(given: int | None, n: int) -> int:
    """Number of models in a block: as given, or larger for a larger number ``n`` of models.

    If each query serves few models of a block, larger blocks share more. But a shard consists of whole blocks, and
    there must be enough of them for many cores.
    """
    return given or (256 if n < 4000 else 512 if n < 16_000 else 1024)


def make_blocks(order: IntArray, size: int) -> list[IntArray]:
    """Blocks of ``size`` rows, the last one perhaps smaller; they depend only on the order and the size."""
    if size < 1:
        raise InputError(f"a block needs at least one model, not {size}")
    return [order[start : start + size] for start in range(0, len(order), size)]


def shards_of_blocks(costs: Sequence[float], n_shards: int) -> IntArray:
    """Shard of every block, from 0, so that all shards cost about the same.

    The most expensive blocks come first, and each goes to the cheapest shard so far. Shards beyond the number of blocks
    stay empty. The largest shard costs at most 4/3 of that of the best division (Graham 1969).
    """
    if n_shards < 1:
        raise InputError(f"blocks cannot be divided among {n_shards} shards")
    loads = [(0.0, shard) for shard in range(n_shards)]
    shards = np.empty(len(costs), dtype=np.int64)
    for block in np.argsort(-np.asarray(costs, dtype=np.float64), kind="stable").tolist():
        load, shard = heapq.heappop(loads)
        shards[block] = shard
        heapq.heappush(loads, (load + costs[block], shard))
    return shards


def progress_lines(write: Callable[[str], object], clock: Callable[[], float] = time.monotonic) -> ProgressCallback:
    """Progress as lines of text for a job's log: models done, rate, time left."""
    began = clock()

    def report(done: int, total: int) -> None:
        rate = done / max(clock() - began, 1e-9)
        speed = f", {rate:.1f} per second, {(total - done) / rate:.0f} s left" if done else ""
        write(f"{done} of {total} models{speed}")

    return report
