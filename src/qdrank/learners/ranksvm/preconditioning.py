"""Preconditioners of a block of models: one matrix per model or one for the whole block, whichever costs less.

The matrix is the Hessian at the global model: ``lam I + 2 sum of coef (x_i - x_j)(x_i - x_j)^T`` over the pairs that are
active there. Local models are near the global one, so few pairs differ. After a step that led upwards a
model falls back to the matrix of all pairs of the training set, whose steps are shorter.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.anderson import Precondition
from qdrank.learners.ranksvm.preferences import Preferences

DENSE = 400.0  # from this many pairs per document, a query counts with all its pairs
_FEW = 16  # number of models for which a sparse product is faster than a dense one
_TOGETHER = 256  # models whose matrices are summed in one product
LARGEST = 2**27  # numbers in the matrices of all queries: 512 MiB in float32
PILOT = 4  # models trained first to see how many evaluations the others will take
TRIAL = 12  # evaluations that these may take
SAMPLE = 128  # documents per feature in the sample for the matrix of a block


def inverted(matrix: FloatArray) -> FloatArray:
    """Inverse of a symmetric positive definite matrix, exactly symmetric."""
    inverse = np.linalg.inv(matrix)
    symmetric: FloatArray = (inverse + inverse.T) / 2
    return symmetric


def shared(inverse: FloatArray) -> Precondition:
    """One inverse (d, d) for all models."""

    def step(_: IntArray, G: FloatArray, __: NDArray[np.bool_]) -> FloatArray:
        return G @ inverse

    return step


class QueryCurvature:
    """Matrices of the active pairs of each query at a model ``w`` (d,), computed on first use."""

    def __init__(self, data: Preferences, w: FloatArray) -> None:
        self.data, self.w = data, w.astype(data.X.dtype)
        self.size = data.n_features * (data.n_features + 1) // 2
        self._known = np.zeros(data.n_queries, dtype=bool)
        self._packed: NDArray[np.floating] | None = None
        self._diagonals = np.full((data.n_queries, data.n_features), np.nan, data.X.dtype)

    @property
    def fits(self) -> bool:
        """Whether the matrices of all queries may be kept."""
        return self.data.n_queries * self.size <= LARGEST

    def computed(self, queries: IntArray) -> NDArray[np.floating]:
        """Lower triangles (n, d (d + 1) / 2) of the matrices of some queries."""
        data, packed = self.data, np.empty((len(queries), self.size), self.data.X.dtype)
        kernels.active_matrices(data.X, data.offsets, data.lower, queries, self.w, DENSE, packed)
        return packed

    def kept(self, queries: IntArray) -> NDArray[np.floating]:
        """The same for all queries (n_queries, d (d + 1) / 2), cached; rows of queries never requested may be empty."""
        if self._packed is None:
            self._packed = np.zeros((self.data.n_queries, self.size), self.data.X.dtype)
        new = queries[~self._known[queries]]
        self._packed[new] = self.computed(new)
        self._known[new] = True
        return self._packed

    def diagonals(self, queries: IntArray) -> NDArray[np.floating]:
        """Diagonals (n_queries, d) of the matrices, cached; NaN for queries never requested."""
        data, new = self.data, queries[np.isnan(self._diagonals[queries, 0])]
        added = np.empty((len(new), data.n_features), data.X.dtype)
        kernels.active_diagonals(data.X, data.offsets, data.lower, new, self.w, DENSE, added)
        self._diagonals[new] = added
        return self._diagonals


Kind = Literal["own", "block", "shared"]


class Costs(NamedTuple):
    """Estimated nanoseconds per model of a block: for its own matrix, its share of the block's, and one evaluation."""

    own: float
    block: float
    evaluation: float


def costs(curvature: QueryCurvature, use: csr_array, sweep: int) -> Costs:
    """Costs of the models of a block; they depend on nothing else, so they do not change with the shards.

    Parameters
    ----------
    curvature : QueryCurvature
    use : (n_models, n_queries); weight of the pairs of each query in each model
    sweep : int; number of times that the block is trained with the same matrices
    """
    data, d, models = curvature.data, curvature.data.n_features, use.shape[0]
    n = np.diff(data.offsets).astype(np.float64)
    entries = np.bincount(use.indices, minlength=data.n_queries) / models
    used = entries > 0
    alone = (
        1 + 3 / (models * entries[used].mean()) if used.any() else 1.0
    )  # products with few models at once are slower
    computing = float(used @ (n**2 * d / 30 + n * d**2 / 10)) / models
    scaling = float(used @ (n**2 * d / 30)) / models / sweep + entries.sum() * d
    adding = min(used.sum() / 15, entries.sum() / 2.5) * curvature.size
    return Costs(
        computing / sweep + adding + d**3 / 6 if curvature.fits else np.inf,
        float(computing * min(1.0, SAMPLE * d / max(1.0, float(used @ n))) + scaling + d**3 / models),
        float(10_000 + entries @ (alone * n * d / 5 + data.pairs / 2)),
    )


def decide(cost: Costs, models: int, evaluations: float | None = None) -> Kind | None:
    """The cheapest preconditioner of a block of ``models`` models.

    ``evaluations`` is the number that some models needed with the matrix that all share. While it is unknown the answer
    may be None: train `PILOT` models with that matrix first. Blocks too small for that use own matrices if cheap.
    """
    if evaluations is None:
        worth_a_pilot = models >= 8 * PILOT and models * cost.evaluation > 5e7
        cheap = cost.own <= (1.0 if worth_a_pilot else 2.5) * cost.evaluation
        return "own" if cheap else None if worth_a_pilot else "shared"
    expected: dict[Kind, float] = {
        "shared": evaluations * cost.evaluation,
        "block": cost.block + max(5.0, 0.33 * evaluations) * cost.evaluation,
        "own": cost.own + max(3.5, 0.25 * evaluations) * cost.evaluation,
    }
    return min(expected, key=expected.__getitem__)


def preconditioner_of(
    kind: Kind, curvature: QueryCurvature, use: csr_array, lam: float, inverse: FloatArray
) -> Precondition:
    """The preconditioner of some models; ``inverse`` (d, d) is the inverse of the matrix that all share."""
    if kind == "shared":
        return shared(inverse)
    return (of_each_model if kind == "own" else of_block)(curvature, use, lam, inverse)


def of_each_model(curvature: QueryCurvature, use: csr_array, lam: float, fallback: FloatArray) -> Precondition:
    """A matrix for each model."""
    factors = np.empty((use.shape[0], curvature.size))
    for start in range(0, len(factors), _TOGETHER):
        rows = slice(start, start + _TOGETHER)
        kernels.factorise(_sums(curvature, use[rows]), lam, factors[rows])

    def step(rows: IntArray, G: FloatArray, rejected: NDArray[np.bool_]) -> FloatArray:
        steps: FloatArray = kernels.solve_factors(factors, rows, G)
        steps[rejected] = G[rejected] @ fallback
        return steps

    return step


def _sums(curvature: QueryCurvature, use: csr_array) -> NDArray[np.floating]:
    """Matrices (n, d (d + 1) / 2) of some models: one product, sparse if each model uses few of the queries."""
    used = np.flatnonzero(np.bincount(use.indices, minlength=use.shape[1]))
    matrices, used_by = curvature.kept(used), use.astype(curvature.data.X.dtype)
    few = use.shape[0] < _FEW or 6 * use.nnz < len(used) * use.shape[0]
    sums: NDArray[np.floating] = used_by @ matrices if few else used_by[:, used].toarray() @ matrices[used]
    return sums


def of_block(curvature: QueryCurvature, use: csr_array, lam: float, fallback: FloatArray) -> Precondition:
    """One matrix for all models: the mean of theirs, with rows and columns scaled to give each model its own diagonal.

    With many documents the matrix uses a sample of the queries; the diagonals use all.
    """
    d, pairs = curvature.data.n_features, curvature.data.pairs
    weight = np.bincount(use.indices, use.data, minlength=use.shape[1]) / use.shape[0]
    used = np.flatnonzero(weight)
    documents = np.diff(curvature.data.offsets)[used].sum()
    some = used[:: max(1, int(documents / (SAMPLE * d)))]
    share = (weight[used] @ pairs[used]) / (weight[some] @ pairs[some])
    matrix = np.zeros((d, d))
    matrix[np.tril_indices(d)] = (share * weight[some]).astype(curvature.data.X.dtype) @ curvature.computed(some)
    inverse = inverted(2 * (matrix + np.tril(matrix, -1).T) + lam * np.eye(d))
    diagonals = curvature.diagonals(used)[used].astype(np.float64)
    scales = np.sqrt((lam + 2 * weight[used] @ diagonals) / (lam + 2 * (use[:, used] @ diagonals)))

    def step(rows: IntArray, G: FloatArray, rejected: NDArray[np.bool_]) -> FloatArray:
        steps: FloatArray = scales[rows] * ((scales[rows] * G) @ inverse)
        steps[rejected] = G[rejected] @ fallback
        return steps

    return step
