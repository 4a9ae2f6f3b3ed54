"""What tests of all learners share: judged documents, small settings, and a fitted learner as it comes back from its file."""

from typing import Any

import numpy as np

from qdrank.learners import LEARNERS
from qdrank.rankers.served import kind_of
from qdrank.rankers.stored import from_state_table, state_table


def stored(learner: Any) -> Any:
    """The learner, written as plain values and read again."""
    return from_state_table(state_table(learner), kind_of)


SMALL = {name: {"rounds": 5} for name in LEARNERS if name.startswith("adarank") or name == "rankboost"}
SMALL |= {name: {"rounds": 5, "min_leaf": 1} for name in ("lambdamart", "boosted-regression")}


def judged(seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.random((150, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.2, 150), [0.7, 1.1])
    return X, y, np.repeat([f"q{i:02}" for i in range(15)], 10)
