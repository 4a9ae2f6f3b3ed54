"""Thousands of local Ranking SVMs, one per list of training queries, trained together.

Models are trained together in a *block* of fixed composition, because rounding in a GEMM depends on what else is in it.
A shard is a set of whole blocks, so neither the number of shards nor the number of cores changes a bit. The order of
models keeps neighbours together.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from qdrank.errors import InputError
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm import anderson, kernels
from qdrank.learners.ranksvm.anderson import QueryCurvature, inverted
from qdrank.learners.ranksvm.estimator import Model, Penalty, before_half, preconditioner, solve, whole_problem
from qdrank.learners.ranksvm.hinge import Problem, newton
from qdrank.learners.ranksvm.preferences import Preferences, pair_weights

BLOCK = 512
_LIMIT = 50  # evaluations after which exact Newton takes over a model


@dataclass(frozen=True)
class TrainingBase:
    """What all local models of a training set share.

    Attributes
    ----------
    single : Model; the global model, trained on all queries; local models start from it
    inverse : (d, d) float64; inverse of the all-pairs matrix of the whole training set
    slacks : (n_queries,), gradients : (n_queries, d) float64
        Sum of slacks and gradient of each query's pairs at the global model. Sums of these are the first evaluation
        of every local model.
    noise : float; rounding error of a float32 gradient, relative to the root of the objective
    curvature : QueryCurvature; second derivatives of each query's pairs at the global model
    """

    data: Preferences
    lam: float
    weighting: str
    centre: FloatArray
    single: Model
    inverse: FloatArray
    slacks: FloatArray
    gradients: FloatArray
    noise: float
    curvature: QueryCurvature


@dataclass(frozen=True)
class LocalModels:
    """Trained models, row by row.

    Attributes
    ----------
    rows : (n,) int64; row of each model in the neighbour table
    W : (n, d) float64
    gaps : (n,) float64; certified relative duality gaps
    evaluations, pairs : (n,) int64
    """

    rows: IntArray
    W: FloatArray
    gaps: FloatArray
    evaluations: IntArray
    pairs: IntArray


def prepare_training(
    data: Preferences,
    *,
    lam: float = 0.01,
    penalty: Penalty = "half",
    query_weights: str = "pairs",
    prox: ArrayLike | None = None,
    tol: float = 1e-6,
    single: Model | None = None,
    all_pairs: FloatArray | None = None,
) -> TrainingBase:
    """Train the global model and prepare what the local models share; parameters as for `RankSVM`.

    ``single`` is the global model, if already trained with these parameters, and ``all_pairs`` the matrix of
    `ranksvm.all_pairs`, if known; both are then reused.
    """
    lam = before_half(lam, penalty)
    problem = whole_problem(data, pair_weights(data.pairs, query_weights), lam, prox)
    with kernels.one_thread():
        B = preconditioner(problem, all_pairs)
        inverse = inverted(B)
        if single is None:
            single = solve(problem, loss="squared_hinge", tol=tol, limit=100, inverse=inverse)
        slacks, gradients = _per_query(data, single.w)
    # |gradient| <= 2 sqrt(loss * mean squared length of a difference); float32 errors never reached twice the unit
    # roundoff of that, see tests/learners/ranksvm/test_local.py
    noise = float(np.finfo(data.X.dtype).eps * np.sqrt(2 * np.trace(B)))
    curvature = QueryCurvature(data, single.w)
    return TrainingBase(data, lam, query_weights, problem.centre, single, inverse, slacks, gradients, noise, curvature)


def _per_query(data: Preferences, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slacks (n_queries,) and gradients (n_queries, d) of every query at ``w``, each query taken as its own model."""
    slacks, gradients = np.zeros(data.n_queries), np.zeros((data.n_queries, data.n_features))
    for start in range(0, data.n_queries, BLOCK):
        queries = np.arange(start, min(start + BLOCK, data.n_queries))[:, None]
        block = _Block(data, queries, (data.pairs[queries] > 0).astype(float))
        slacks[queries[:, 0]], gradients[queries[:, 0]] = block.sums(
            np.arange(len(queries)), np.tile(w, (len(queries), 1))
        )
    return slacks, gradients


class _Block:
    """Evaluation of the models of one block."""

    def __init__(self, data: Preferences, neighbours: IntArray, coef: FloatArray) -> None:
        self.data, self.neighbours, self.coef = data, neighbours, coef
        self.lists = first, members, weights = kernels.transpose(neighbours, coef, data.n_queries)
        self.use = csc_array((weights, members, first), shape=(len(coef), data.n_queries)).tocsr()

    def sums(self, active: IntArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted sums of slacks (n_active,) and gradients (n_active, d) of the models ``active`` at ``W``."""
        data, position, (first, members, weights) = self.data, np.full(len(self.coef), -1), self.lists
        position[active] = np.arange(len(active))
        evaluated: Any = kernels.evaluate_block(
            data.X, data.offsets, data.lower, first, members, weights, position, W.astype(data.X.dtype)
        )
        return evaluated[0], evaluated[1]

    def evaluate(self, active: IntArray, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Losses and gradients: v^2 = v (1 - s_i + s_j), so the loss is the slacks plus W.G / 2."""
        slacks, G = self.sums(active, W)
        return slacks + np.einsum("nf,nf->n", W, G) / 2, G

    def at_global(self, base: TrainingBase) -> tuple[FloatArray, FloatArray]:
        """The same for all models at the global model, from the sums that every block shares."""
        G: FloatArray = self.use @ base.gradients
        return self.use @ base.slacks + G @ base.single.w / 2, G

    def problem(self, base: TrainingBase, model: int) -> Problem:
        used = np.flatnonzero(self.coef[model])
        queries, coef = self.neighbours[model, used], self.coef[model, used]
        return Problem(base.data, queries, coef, base.lam, base.centre)


def _coefficients(base: TrainingBase, neighbours: IntArray, weights: FloatArray | None) -> tuple[FloatArray, IntArray]:
    """Normalised weight of the pairs of each neighbour (n, k), 0 for no query, and pairs of each model (n,)."""
    pairs = np.where(neighbours >= 0, base.data.pairs[neighbours], 0)
    coef = np.where(pairs > 0, pair_weights(pairs, base.weighting, weights), 0.0)
    total = np.einsum("nk,nk->n", coef, pairs)
    return coef / np.where(total > 0, total, 1.0)[:, None], np.where(coef > 0, pairs, 0).sum(axis=1)


def _is_whole(base: TrainingBase, neighbours: IntArray, coef: FloatArray) -> NDArray[np.bool_]:
    """Which models equal the global one (n,): all queries that have pairs, once each, with the same weights."""
    target = np.where(base.data.pairs > 0, pair_weights(base.data.pairs, base.weighting), 0.0)
    target /= max(float(target @ base.data.pairs), np.finfo(float).tiny)
    candidates = np.flatnonzero((coef > 0).sum(axis=1) == (target > 0).sum())
    whole = np.zeros(len(coef), dtype=bool)
    for m in candidates:
        used = coef[m] > 0
        whole[m] = np.bincount(neighbours[m, used]).max(initial=0) <= 1 and np.allclose(
            coef[m, used], target[neighbours[m, used]], rtol=1e-12, atol=0
        )
    return whole


@dataclass(frozen=True)
class _Warm:
    """Models of another k, and the gradients of their losses at the global model, both (n, d)."""

    W: FloatArray
    G: FloatArray


def train_block(
    base: TrainingBase, neighbours: NDArray[Any], *, weights: FloatArray | None = None, tol: float = 1e-6
) -> LocalModels:
    """Train the models of one block together.

    Parameters
    ----------
    base : TrainingBase
    neighbours : (n, k) integer; training queries of each model; -1 stands for none
    weights : (n, k) float64, optional; weights of the queries (a kernel of the distance, for instance)
    tol : float; certified relative gap to reach; exact Newton finishes models that do not reach it in a few steps
    """
    with kernels.one_thread():
        return _train_block(base, np.asarray(neighbours), weights, tol, None)[0]


def _train_block(
    base: TrainingBase, neighbours: NDArray[Any], weights: FloatArray | None, tol: float, warm: _Warm | None
) -> tuple[LocalModels, _Warm]:
    neighbours = np.ascontiguousarray(neighbours, dtype=np.int64)
    if neighbours.ndim != 2 or (neighbours >= base.data.n_queries).any():
        raise InputError(f"neighbours {neighbours.shape} do not name queries of the training set")
    coef, pairs = _coefficients(base, neighbours, weights)
    block = _Block(base.data, neighbours, coef)
    loss, G = block.at_global(base)
    W, gaps, evaluations = np.tile(base.single.w, (len(coef), 1)), np.zeros(len(coef)), np.zeros_like(pairs)
    whole = _is_whole(base, neighbours, coef)
    gaps[whole] = base.single.gap
    W[pairs == 0] = base.centre  # no pair, so nothing moves the model away from it
    todo = np.flatnonzero(~whole & (pairs > 0))
    if len(todo):
        reached = _descend(base, block, todo, (loss[todo], G[todo]), tol, warm)
        W[todo], gaps[todo], evaluations[todo] = reached.W, reached.gap, reached.evaluations
    return LocalModels(np.arange(len(coef)), W, gaps, evaluations, pairs), _Warm(W, G)


def _descend(
    base: TrainingBase,
    block: _Block,
    rows: IntArray,
    first: tuple[FloatArray, FloatArray],
    tol: float,
    warm: _Warm | None,
) -> anderson.Solution:
    """Train some models of a block from the global model, at which ``first`` has their losses and gradients."""
    precondition, guess = base.curvature.preconditioner(block.use[rows], base.lam, base.inverse), None
    if warm is not None:  # the models of another k, shifted by the difference between the first steps of both
        every, none = np.arange(len(rows)), np.zeros(len(rows), dtype=bool)
        guess = warm.W[rows] - precondition(every, first[1] - warm.G[rows], none)
    reached = anderson.minimise(
        lambda active, W: block.evaluate(rows[active], W),
        np.tile(base.single.w, (len(rows), 1)),
        np.tile(base.centre, (len(rows), 1)),
        base.lam,
        precondition,
        first=first,
        guess=guess,
        tol=tol,
        limit=_LIMIT,
        noise=base.noise,
    )
    for m in np.flatnonzero(reached.gap > tol):
        at, steps = newton(block.problem(base, int(rows[m])), reached.W[m], tol, 100)
        reached.W[m], reached.gap[m], reached.evaluations[m] = at.w, at.gap, reached.evaluations[m] + steps
    return reached


def train_local(
    base: TrainingBase,
    neighbours: NDArray[Any],
    blocks: Sequence[IntArray],
    *,
    weights: FloatArray | None = None,
    tol: float = 1e-6,
) -> LocalModels:
    """Train the models of some blocks (rows of ``neighbours``), one block at a time; see `train_block`."""
    swept = train_sweep(base, neighbours, [neighbours.shape[1]], blocks, weights=weights, tol=tol)
    return swept[neighbours.shape[1]]


def train_sweep(
    base: TrainingBase,
    neighbours: NDArray[Any],
    ks: Sequence[int],
    blocks: Sequence[IntArray],
    *,
    weights: FloatArray | None = None,
    tol: float = 1e-6,
    progress: ProgressCallback | None = None,
) -> dict[int, LocalModels]:
    """Models for several k: row m of k uses ``neighbours[m, :k]``, nearest first.

    All start from the global model; each k but the largest continues from the models of the next larger k in the same
    block. No block sees another, so shards of whole blocks give the same bytes. ``progress`` counts models of all k.
    """
    order = sorted(set(ks), reverse=True)
    if not order or order[-1] < 1 or order[0] > neighbours.shape[1]:
        raise InputError(f"every k must lie between 1 and {neighbours.shape[1]}", found=str(list(ks)))
    models_of: dict[int, list[LocalModels]] = {k: [] for k in order}
    done, total = 0, len(order) * sum(map(len, blocks))
    for rows in blocks:
        weights_of = None if weights is None else weights[rows]
        with kernels.one_thread():
            for k, models in _sweep_block(base, neighbours[rows], order, weights_of, tol):
                models_of[k].append(replace(models, rows=rows))
                done += len(rows)
                if progress is not None:
                    progress(done, total)
    return {k: _join(models_of[k], base.data.n_features) for k in ks}


def _sweep_block(
    base: TrainingBase, neighbours: NDArray[Any], ks: Sequence[int], weights: FloatArray | None, tol: float
) -> Iterator[tuple[int, LocalModels]]:
    warm = None
    for k in ks:
        kept = None if weights is None else weights[:, :k]
        models, warm = _train_block(base, neighbours[:, :k], kept, tol, warm)
        yield k, models


def _join(blocks: Sequence[LocalModels], d: int) -> LocalModels:
    if not blocks:
        none = np.zeros(0, dtype=np.int64)
        return LocalModels(none, np.zeros((0, d)), np.zeros(0), none, none)
    names = ("rows", "W", "gaps", "evaluations", "pairs")
    return LocalModels(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in names})


# ---- blocks of models, and shards of blocks ------------------------------------------------------------------------


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
