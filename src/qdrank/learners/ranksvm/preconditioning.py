"""The preconditioner of a block of models: for each the Hessian of its pairs at the global model.

That is ``lam I + 2 sum of coef (x_i - x_j)(x_i - x_j)^T`` over the pairs that are active there. Local models are near the
global one, so few pairs differ. After a step that led upwards a model falls back to the matrix of all pairs of the training
set, whose steps are shorter. All models take that matrix if those of the queries would need too much memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from qdrank.layout import FloatArray, IntArray
from qdrank.learners.ranksvm import kernels
from qdrank.learners.ranksvm.anderson import Precondition
from qdrank.learners.ranksvm.preferences import Preferences

_FEW = 16  # number of models for which a sparse product is faster than a dense one
_TOGETHER = 256  # models whose matrices are summed in one product
LARGEST = 2**27  # numbers in the matrices of all queries: 512 MiB in float32


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
    """Lower triangles of the matrices of each query's active pairs at a model ``w`` (d,), computed on first use."""

    def __init__(self, data: Preferences, w: FloatArray) -> None:
        self.data, self.w = data, w.astype(data.X.dtype)
        self.size = data.n_features * (data.n_features + 1) // 2
        self._known = np.zeros(data.n_queries, dtype=bool)

    @property
    def fits(self) -> bool:
        """Whether the matrices of all queries may be kept."""
        return self.data.n_queries * self.size <= LARGEST

    def kept(self, queries: IntArray) -> NDArray[np.floating]:
        """Matrices (n_queries, d (d + 1) / 2) of all queries, cached; rows of queries never requested may be empty."""
        data, new = self.data, queries[~self._known[queries]]
        if not self._known.any():
            self._packed = np.zeros((data.n_queries, self.size), data.X.dtype)
        added = np.empty((len(new), self.size), data.X.dtype)
        kernels.active_matrices(data.X, data.offsets, data.lower, new, self.w, added)
        self._packed[new] = added
        self._known[new] = True
        return self._packed

    def preconditioner(self, use: csr_array, lam: float, fallback: FloatArray) -> Precondition:
        """Of models with the weights ``use`` (n_models, n_queries) of the queries' pairs; ``fallback`` (d, d) is an inverse."""
        if not self.fits:
            return shared(fallback)
        factors = np.empty((use.shape[0], self.size))
        for start in range(0, len(factors), _TOGETHER):
            rows = slice(start, start + _TOGETHER)
            kernels.factorise(self._sums(use[rows]), lam, factors[rows])

        def step(rows: IntArray, G: FloatArray, rejected: NDArray[np.bool_]) -> FloatArray:
            steps: FloatArray = kernels.solve_factors(factors, rows, G)
            steps[rejected] = G[rejected] @ fallback
            return steps

        return step

    def _sums(self, use: csr_array) -> NDArray[np.floating]:
        """Matrices (n, d (d + 1) / 2) of some models: one product, sparse if each model uses few of the queries."""
        used = np.flatnonzero(np.bincount(use.indices, minlength=use.shape[1]))
        matrices, used_by = self.kept(used), use.astype(self.data.X.dtype)
        few = use.shape[0] < _FEW or 6 * use.nnz < len(used) * use.shape[0]
        sums: NDArray[np.floating] = used_by @ matrices if few else used_by[:, used].toarray() @ matrices[used]
        return sums
