"""How the lost parts of the paper are read: each inferred choice is an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

TrainingSet = Literal["relevant", "queries"]
Representation = Literal["mean", "vote"]
Distribution = Literal["minmax", "softmax"]
Divergence = Literal["local-base", "base-local", "js"]
Membership = Literal["most", "every"]
Confidence = Literal["sum", "mean"]
ConfidenceFrom = Literal["training", "inner"]
Transformation = Literal["divergence", "peakedness", "top-scores"]
Weighting = Literal["inverse", "gaussian"]
ScoreScale = Literal["minmax", "zscore", "raw"]


@dataclass(frozen=True, kw_only=True)
class Readings:
    """The inferred choices.

    Attributes
    ----------
    training_set
        What a cluster of relevant pairs learns from: the pairs with all non-relevant documents of their queries, or
        their queries whole.
    representation
        Naive: the mean of the top documents goes to its nearest centre, or each top document votes for one.
    distribution
        How scores become a distribution over the documents of a query.
    divergence
        Eq. 2: KL(local || base), KL(base || local), or Jensen-Shannon.
    membership
        SelectRanker: a training query belongs to the cluster with most of its relevant pairs, or to every one with any.
    confidence
        SelectRanker: the weight of a cluster is the sum or the mean of the average precisions of its k queries.
    confidence_from
        SelectRanker: these precisions are of the local model on the queries it learned from, or of models that learned
        from the other half of the training queries.
    transformation
        Transform: (KL(p1 || p2), KL(p2 || p1)); (KL(p1 || uniform), KL(p2 || uniform)); or mean scores at the top.
    top
        Documents at the top for ``top-scores``.
    weighting
        Transform: weights fall with the distance as its inverse, or as a Gaussian.
    score_scale
        Scores of the local models before eq. 1: scaled within each query, or raw.
    """

    training_set: TrainingSet = "relevant"
    representation: Representation = "mean"
    distribution: Distribution = "minmax"
    divergence: Divergence = "local-base"
    membership: Membership = "most"
    confidence: Confidence = "sum"
    confidence_from: ConfidenceFrom = "training"
    transformation: Transformation = "divergence"
    top: int = 10
    weighting: Weighting = "inverse"
    score_scale: ScoreScale = "minmax"
