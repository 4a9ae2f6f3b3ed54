"""Judged documents of a fold as models see them: missing values filled, features on a common scale for learning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, load_roles
from qdrank.datasets.scaling import column_moments, inverse_deviation, minmax_per_query, scaled
from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray, IntArray

if TYPE_CHECKING:
    from qdrank.learners.ranksvm.preferences import Preferences

FeatureScale = Literal["auto", "given", "zscore", "minmax"]

#: Numbers to score at a time, few enough for the processor's cache in double precision.
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
    fill : (n_features,) replacements for missing values; None if none are missing
    minmax : whether the features were scaled within each query
    """

    parts: Mapping[str, Judged]
    mean: FloatArray
    inverse: FloatArray
    fill: FloatArray | None = None
    minmax: bool = False

    def preferences(self) -> Preferences:
        """Training documents, scaled and prepared for pairwise learning."""
        from qdrank.learners.ranksvm.preferences import prepare  # compiled

        train = self.parts["train"]
        return prepare(scaled(train.X, self.mean, self.inverse), train.y, train.offsets, overwrite=True)

    def seen(self, role: str) -> Judged:
        """Documents of a role as a learner sees them."""
        part = self.parts[role]
        return part.with_features(seen(part.X, self.mean, self.inverse))

    def scaled(self) -> FoldDocuments:
        """The same documents as a learner sees them, already scaled, for jobs that need no other units."""
        width = len(self.mean)
        parts = {role: self.seen(role) for role in self.parts}
        return FoldDocuments(parts, np.zeros(width), np.ones(width), self.fill, self.minmax)

    def view(self, *, scaled: bool = True) -> DocumentView:
        """How a ranker of these documents sees new ones: scaled as for a learner, or as in ``parts``."""
        width = len(self.mean)
        mean, inverse = (self.mean, self.inverse) if scaled else (np.zeros(width), np.ones(width))
        missing = self.fill is not None or any(np.isnan(part.X).any() for part in self.parts.values())
        return DocumentView(minmax=self.minmax, missing=missing, fill=self.fill, mean=mean, inverse=inverse)

    def stored(self, W: FloatArray) -> FloatArray:
        """Weights learned on scaled features, (..., n_features), as they apply to the documents in ``parts``."""
        return W * self.inverse


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentView:
    """How a ranker sees the features of documents.

    Attributes
    ----------
    minmax : whether they are scaled to [0, 1] within each query
    missing : whether values may be missing
    fill : (n_features,) replacements for missing values; None: they stay missing
    mean, inverse : (n_features,) the ranker sees ``(x - mean) * inverse``
    """

    NAME: ClassVar[str] = "documents"

    minmax: bool
    missing: bool
    fill: FloatArray | None
    mean: FloatArray
    inverse: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features of a document."""
        return len(self.mean)

    def checked(self, X: NDArray[Any], offsets: IntArray) -> NDArray[np.float32]:
        """Features in single precision, after checking that their number and the offsets are right."""
        X = np.asarray(X, dtype=np.float32)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            problem = f"these models have {self.n_features} features"
            fix = "give the features that the models were trained on, in their order"
            raise InputError(problem, found=f"an array of shape {X.shape}", fix=fix)
        if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(X) or np.any(np.diff(offsets) < 1):
            raise InputError("the offsets do not divide the documents into queries", fix="see qdrank.layout")
        if not self.missing and not np.isfinite(X).all():
            raise InputError(
                "a feature has no finite value", fix="fill in the missing values; the training data had none"
            )
        return X

    def features(self, X: NDArray[np.float32], offsets: IntArray) -> NDArray[np.float32]:
        """The features that the ranker sees, (n_documents, n_features)."""
        X = minmax_per_query(X, offsets) if self.minmax else X
        X = X if self.fill is None else _filled(X, self.fill)
        return seen(X, self.mean, self.inverse)


def seen(X: NDArray[Any], mean: FloatArray, inverse: FloatArray) -> NDArray[Any]:
    """Features (n_documents, n_features) as the learner sees them."""
    if not mean.any() and (inverse == 1).all():
        return X
    return scaled(X, mean, inverse)


def load_fold(
    path: AnyPath,
    fold: str,
    scale: FeatureScale = "auto",
    *,
    wanted: Sequence[str] = ROLES,
    columns: Sequence[str] = ("features",),
) -> FoldDocuments:
    """Documents of a fold from the artifact ``judged`` at ``path``, for the roles ``wanted``, which must include train.

    ``columns`` as for `load_judged`; the others as for `fold_documents`.
    """
    return prepared(load_roles(path, fold, wanted, columns), scale)


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
    return prepared({role: judged.of_role(fold, role) for role in ROLES}, scale)


def prepared(parts: dict[str, Judged], scale: FeatureScale) -> FoldDocuments:
    """Documents by role, train among them, with nothing missing, and how the learner should scale them."""
    if scale == "minmax":
        parts = {role: part.with_features(minmax_per_query(part.X, part.offsets)) for role, part in parts.items()}
    mean, deviation = column_moments(parts["train"].X)
    fill = mean if any(np.isnan(part.X).any() for part in parts.values()) else None
    if fill is not None:
        parts = {role: part.with_features(_filled(part.X, fill)) for role, part in parts.items()}
    if scale in ("given", "minmax") or (scale == "auto" and _in_unit_interval(parts["train"].X)):
        return FoldDocuments(parts, np.zeros(len(mean)), np.ones(len(mean)), fill, scale == "minmax")
    return FoldDocuments(parts, mean, inverse_deviation(mean, deviation), fill)


def _filled(X: NDArray[np.float32], values: FloatArray) -> NDArray[np.float32]:
    """Missing values replaced by ``values``, one per feature."""
    return np.where(np.isnan(X), values.astype(np.float32), X)


def _in_unit_interval(X: NDArray[np.float32]) -> bool:
    return bool(X.size and X.min() >= 0 and X.max() <= 1)


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        yield slice(start, start + step)


def query_scores(documents: Judged, W: FloatArray) -> FloatArray:
    """Scores (..., n_documents) of documents, each query's by its own model, from W (..., n_queries, n_features)."""
    W = np.ascontiguousarray(W)
    scores = np.empty((*W.shape[:-2], documents.n_documents))
    sets, out = W.reshape(-1, *W.shape[-2:]), scores.reshape(-1, documents.n_documents)
    for q, (a, b) in enumerate(pairwise(documents.offsets.tolist())):
        X = documents.X[a:b].astype(np.float64)
        for w, filled in zip(sets[:, q], out[:, a:b], strict=True):
            # no BLAS matrix product, in which the last bits of a score depend on the documents around it
            np.einsum("nf,f->n", X, w, out=filled)
    return scores


def one_model_scores(documents: Judged, w: FloatArray) -> FloatArray:
    """Scores of documents, shape (n_documents,), by one model (n_features,); `query_scores` gives the same bits."""
    scores = np.empty(documents.n_documents)
    for rows in _blocks(documents.X):
        np.einsum("nf,f->n", documents.X[rows].astype(np.float64), w, out=scores[rows])
    return scores
