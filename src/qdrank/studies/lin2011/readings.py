"""Possible readings of the lost parts of the paper: values of each inferred choice. Section ``lin`` explains them."""

from __future__ import annotations

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
