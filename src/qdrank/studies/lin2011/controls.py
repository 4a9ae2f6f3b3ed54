"""Controls for the paper's upper bound: random models that are as good on average as the local ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qdrank.layout import FloatArray

#: Range of the sizes of perturbations, relative to the length of the global weights.
SIZES = (1e-4, 1e4)


@dataclass(frozen=True)
class Perturbed:
    """Random perturbations of the global weights.

    Attributes
    ----------
    W : (m, n_features)
    size : approximate length of a perturbation relative to that of the global weights
    wanted, reached : mean average precision of the local and of the perturbed models on the queries used for matching
    """

    W: FloatArray
    size: float
    wanted: float
    reached: float


def directions(m: int, d: int, *, seed: int) -> FloatArray:
    """Random directions (m, d), each of length about 1; the first ones do not depend on ``m``."""
    drawn: FloatArray = np.stack([np.random.default_rng([seed, i]).standard_normal(d) for i in range(m)])
    scaled: FloatArray = drawn / np.sqrt(d)
    return scaled


def matched(
    w: FloatArray, steps: FloatArray, mean_ap: Callable[[FloatArray], float], wanted: float, *, rounds: int = 18
) -> Perturbed:
    """Perturbations ``w + size |w| steps`` whose mean average precision is ``wanted``, found by bisection.

    Parameters
    ----------
    w : (d,) global weights on the learner's scale
    steps : (m, d) as from `directions`
    mean_ap : mean average precision of models (m, d) over validation or training queries, never test queries
    wanted : that of the local models on the same queries
    """
    length = float(np.linalg.norm(w)) or 1.0
    low, high = np.log(SIZES)
    tried: dict[float, float] = {0.0: mean_ap(w[None])}
    if tried[0.0] > wanted:
        for _ in range(rounds):
            middle = float((low + high) / 2)
            size = float(np.exp(middle))
            tried[size] = mean_ap(w + size * length * steps)
            low, high = (middle, high) if tried[size] > wanted else (low, middle)
    size = min(tried, key=lambda s: (abs(tried[s] - wanted), s))
    return Perturbed(w + size * length * steps, size, wanted, tried[size])


def ranked(ap: FloatArray) -> FloatArray:
    """Average precisions (m, n_queries) of local models, best first for each query: (n_queries, m)."""
    return -np.sort(-ap.T, axis=1)
