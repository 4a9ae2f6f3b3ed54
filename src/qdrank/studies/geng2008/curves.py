"""Values of a method per test query along the numbers of neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.layout import FloatArray


@dataclass(frozen=True)
class Curve:
    """Values of a method for several k.

    Attributes
    ----------
    k : (n_ks,) mean over the folds, whose training sets differ a little in size
    share : (n_ks,) k as a share of the training queries, mean over the folds
    query_id : (n_queries,) ascending
    fold : (n_queries,) the fold of each query
    values : (n_queries, n_ks)
    """

    k: FloatArray
    share: FloatArray
    query_id: NDArray[np.object_]
    fold: NDArray[np.object_]
    values: FloatArray

    @property
    def to_the_end(self) -> bool:
        """Whether the last k covers all training queries in every fold."""
        return bool(self.share[-1] == 1)


def curve(sweep: pa.Table, method: str, name: str, *, lam: float, role: str = "test") -> Curve:
    """Values of a method along k at one lambda, queries of all folds together."""
    wanted = pc.and_(pc.equal(sweep.column("method"), method), pc.equal(sweep.column("role"), role))
    at_lambda = sweep.filter(pc.and_(wanted, pc.equal(sweep.column("lam"), lam)))
    fold, query, k, values = (
        at_lambda.column(c).to_numpy(zero_copy_only=False) for c in ("fold", "query_id", "k", name)
    )
    names = sorted(set(fold))
    folds = [_fold_curve(query[fold == f], k[fold == f], values[fold == f]) for f in names]
    if not folds:
        raise InputError(f"there is no curve of {method} at lambda {lam:g}")
    m = _training_sizes(sweep)
    # Small training sets may have fewer distinct k; all of them have the largest.
    n = min(len(ks) for ks, _, _ in folds)
    ks = np.stack([ks[-n:] for ks, _, _ in folds]).astype(np.float64)
    ids = np.concatenate([ids for _, ids, _ in folds])
    own_fold = np.repeat(np.array(names, dtype=object), [len(ids) for _, ids, _ in folds])
    order = np.argsort(ids.astype(str), kind="stable")
    rows = np.concatenate([v[:, -n:] for _, _, v in folds])[order]
    shares = ks / np.array([[m[name]] for name in names])
    return Curve(ks.mean(axis=0), shares.mean(axis=0), ids[order], own_fold[order], rows)


def _training_sizes(sweep: pa.Table) -> dict[str, int]:
    """Number of training queries of every fold, all of which Single learns from."""
    single = sweep.filter(pc.equal(sweep.column("method"), "single"))
    return dict(zip(single.column("fold").to_pylist(), single.column("k").to_pylist(), strict=True))


def _fold_curve(
    query: NDArray[np.object_], k: NDArray[np.int32], values: FloatArray
) -> tuple[NDArray[np.int32], NDArray[np.object_], FloatArray]:
    ks, place = np.unique(k, return_inverse=True)
    ids, row = np.unique(query.astype(str), return_inverse=True)
    matrix = np.full((len(ids), len(ks)), np.nan)
    matrix[row, place] = values
    return ks, ids.astype(object), matrix
