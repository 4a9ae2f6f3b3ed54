"""What differs between several fits of one method: the seed, or targets moved by a hair. `qdrank.evaluation.estimates` compares them.

Apart from it, because jobs that fit load nothing of what measures and tests need.
"""

from __future__ import annotations

import numpy as np

from qdrank.layout import FloatArray


def fit_seed(seed: int, fit: int) -> int:
    """Seed of one fit, from that of the configuration; fit 0 has that one itself. Below 2^31, as LightGBM wants it."""
    return seed if fit == 0 else int(np.random.SeedSequence([seed, fit]).generate_state(1)[0]) >> 1


def jittered(targets: FloatArray, *, fit: int, seed: int, size: float = 0.01) -> FloatArray:
    """Targets of one refit: each moved by a normal deviate of ``size`` times their standard deviation; fit 0 is not moved."""
    if fit == 0:
        return targets
    noise = np.random.default_rng([seed, fit]).normal(0.0, 1.0, len(targets))
    moved: FloatArray = targets + size * float(targets.std()) * noise
    return moved
