"""Weights that are a linear function of the query: score = w.x + sum over c of z_c M_c.x.

z are the leading principal components of the query vectors, scaled to variance 1 on the training queries. The objective
is that of `RankSVM` with a separate penalty for the interactions::

    lam/2 (|w|^2 + interactions |M|^2) + mean loss of the pairs
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.layout import FloatArray
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.ranksvm.preferences import prepare
from qdrank.queries.vectors import row_product
from qdrank.rankers.base import QueryRanker, Validation, refuse_other_vectors
from qdrank.rankers.documents import query_scores


@dataclass(kw_only=True, eq=False)
class Bilinear(QueryRanker):
    """Features times components of the query vector.

    Parameters
    ----------
    lam, tol : as for `RankSVM`
    interactions : penalty on M relative to that on w
    components : number of components of the query vectors
    """

    NAME: ClassVar[str] = "bilinear"

    lam: float = 0.01
    interactions: float = 10.0
    components: int = 5
    tol: float = 1e-6
    coef_: FloatArray = field(init=False, repr=False)
    """(1 + n_components, n_features): w, and below it M."""
    mean_: FloatArray = field(init=False, repr=False)
    map_: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.interactions > 0 or self.components < 0:
            raise InputError(
                "interactions must be positive, components 0 or more",
                found=f"interactions={self.interactions}, components={self.components}",
            )

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn w and M."""
        refuse_other_vectors(train, vectors)
        self.mean_, self.map_ = principal_map(np.asarray(vectors, dtype=np.float64), self.components)
        scale = np.sqrt(1 / self.interactions)
        factors = np.hstack([np.ones((train.n_queries, 1)), scale * self._components(vectors)])
        X = np.einsum("nc,nf->ncf", factors[train.query_index].astype(np.float32), train.X)
        data = prepare(X.reshape(len(X), -1), train.y, train.offsets)
        coef = RankSVM(lam=self.lam, tol=self.tol).fit_preferences(data).coef_.reshape(-1, train.X.shape[1])
        self.coef_ = np.vstack([coef[:1], scale * coef[1:]])
        return self

    def models(self, vectors: FloatArray) -> FloatArray:
        """Weights of queries with the given vectors, (n_queries, n_features)."""
        self.refuse_unfitted()
        W: FloatArray = self.coef_[0] + row_product(self._components(vectors), self.coef_[1:])
        return W

    def predict(self, documents: Judged, vectors: FloatArray) -> FloatArray:
        """Scores (n_documents,)."""
        refuse_other_vectors(documents, vectors)
        return query_scores(documents, self.models(vectors))

    def _components(self, vectors: FloatArray) -> FloatArray:
        return row_product(np.asarray(vectors, dtype=np.float64) - self.mean_, self.map_)


def principal_map(vectors: FloatArray, components: int) -> tuple[FloatArray, FloatArray]:
    """Mean (n_columns,) and map (n_columns, r) to the leading components, of variance 1; r is at most the rank.

    Each component's sign makes its largest entry positive.
    """
    mean = vectors.mean(axis=0)
    _, lengths, axes = np.linalg.svd(vectors - mean, full_matrices=False)
    kept = min(components, int((lengths > 1e-10 * max(lengths.max(initial=0.0), 1e-300)).sum()))
    axes, lengths = axes[:kept], lengths[:kept]
    largest = np.abs(axes).argmax(axis=1) if kept else np.zeros(0, dtype=np.int64)
    signs = np.sign(axes[np.arange(kept), largest])
    return mean, (axes * (signs * np.sqrt(len(vectors)) / lengths)[:, None]).T.reshape(vectors.shape[1], kept)
