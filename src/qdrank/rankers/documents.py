"""Judged documents of a fold as models see them: missing values filled, features on a common scale for learning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, load_roles
from qdrank.datasets.letor.features import column_moments, minmax_per_query
from qdrank.errors import AnyPath
from qdrank.groups import FloatArray
from qdrank.learners.ranksvm.preferences import Preferences, prepare

FeatureScale = Literal["auto", "given", "zscore", "minmax"]

#: Numbers scaled at a time: in double precision they stay in the processor's cache.
_BLOCK = 2**17


@dataclass(frozen=True)
class FoldDocuments:
    """Documents of a fold by role, and how their features are scaled for learning.

    Attributes
    ----------
    parts : documents of train, vali and test, in the units that models are stored in, nothing missing
    mean, inverse : (n_features,)
        A pairwise learner sees ``(x - mean) * inverse``; a linear model w of these is ``w * inverse`` in the units
        of ``parts``, since a constant added to all scores of a query changes no ranking.
    """

    parts: Mapping[str, Judged]
    mean: FloatArray
    inverse: FloatArray

    def preferences(self) -> Preferences:
        """Training documents, scaled and made ready for pairwise learning."""
        train = self.parts["train"]
        return prepare(_scaled(train.X, self.mean, self.inverse), train.y, train.offsets, overwrite=True)

    def seen(self, role: str) -> Judged:
        """Documents of a role as a learner sees them."""
        part = self.parts[role]
        return part.with_features(seen(part.X, self.mean, self.inverse))

    def scaled(self) -> FoldDocuments:
        """The same documents as a learner sees them, with nothing left to scale: for jobs that need no other units."""
        width = len(self.mean)
        return FoldDocuments({role: self.seen(role) for role in self.parts}, np.zeros(width), np.ones(width))

    def stored(self, W: FloatArray) -> FloatArray:
        """Weights learned on scaled features, (..., n_features), as they apply to the documents in ``parts``."""
        return W * self.inverse


def seen(X: NDArray[Any], mean: FloatArray, inverse: FloatArray) -> NDArray[Any]:
    """Features (n_documents, n_features) as the learner sees them."""
    if not mean.any() and (inverse == 1).all():
        return X
    return _scaled(X, mean, inverse)


def _scaled(X: NDArray[Any], mean: FloatArray, inverse: FloatArray) -> NDArray[np.float32]:
    """``(X - mean) * inverse``, computed in float64 by blocks, so that not all of it is held in float64."""
    found = np.empty(X.shape, dtype=np.float32)
    for rows in _blocks(X):
        found[rows] = (X[rows] - mean) * inverse
    return found


def load_fold(
    path: AnyPath,
    fold: str,
    scale: FeatureScale = "auto",
    *,
    wanted: Sequence[str] = ROLES,
    columns: Sequence[str] = ("features",),
) -> FoldDocuments:
    """Documents of a fold from the artifact ``judged`` at ``path``, those of the roles ``wanted``; the training documents must be among them.

    ``columns`` as for `load_judged`; the others as for `fold_documents`.
    """
    return _prepared(load_roles(path, fold, wanted, columns), scale)


def fold_documents(judged: Judged, fold: str, scale: FeatureScale = "auto") -> FoldDocuments:
    """Documents of a fold.

    Parameters
    ----------
    judged : the data set
    fold : name of the fold
    scale : {"auto", "given", "zscore", "minmax"}
        ``minmax`` scales within each query, for scoring as well; ``zscore`` on the training documents, only for
        learning; ``auto`` takes features as given if all lie in [0, 1], as LETOR's do, otherwise zscore.
    """
    return _prepared({role: judged.of_role(fold, role) for role in ROLES}, scale)


def _prepared(parts: dict[str, Judged], scale: FeatureScale) -> FoldDocuments:
    """Documents by role with nothing missing, and how the learner is to scale them."""
    if scale == "minmax":
        parts = {role: part.with_features(minmax_per_query(part.X, part.offsets)) for role, part in parts.items()}
    mean, deviation = column_moments(parts["train"].X)
    if any(np.isnan(part.X).any() for part in parts.values()):
        parts = {role: _filled(part, mean) for role, part in parts.items()}
    if scale in ("given", "minmax") or (scale == "auto" and _in_unit_interval(parts["train"].X)):
        return FoldDocuments(parts, np.zeros(len(mean)), np.ones(len(mean)))
    constant = deviation <= 1e-12 * np.abs(mean)
    return FoldDocuments(parts, mean, np.where(constant, 0.0, 1 / np.where(constant, 1.0, deviation)))


def _filled(part: Judged, values: FloatArray) -> Judged:
    """Missing values replaced by ``values``, one per feature."""
    return part.with_features(np.where(np.isnan(part.X), values.astype(np.float32), part.X))


def _in_unit_interval(X: NDArray[np.float32]) -> bool:
    return bool(X.size and X.min() >= 0 and X.max() <= 1)


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        yield slice(start, start + step)


def query_scores(documents: Judged, W: FloatArray) -> FloatArray:
    """Scores of documents, each query's by its own model, for one or several sets of models: W (..., n_queries, n_features) to (..., n_documents)."""
    W = np.ascontiguousarray(W)
    scores = np.empty((*W.shape[:-2], documents.n_documents))
    sets, out = W.reshape(-1, *W.shape[-2:]), scores.reshape(-1, documents.n_documents)
    for q, (a, b) in enumerate(pairwise(documents.offsets.tolist())):
        X = documents.X[a:b].astype(np.float64)
        for w, own in zip(sets[:, q], out[:, a:b], strict=True):
            # not a matrix product of BLAS: there the last bits of a score depend on the documents around it
            np.einsum("nf,f->n", X, w, out=own)
    return scores


def one_model_scores(documents: Judged, w: FloatArray) -> FloatArray:
    """Scores of documents, shape (n_documents,), by one model (n_features,)."""
    return query_scores(documents, np.broadcast_to(w, (documents.n_queries, len(w))))
