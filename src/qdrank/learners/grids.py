"""Settings to try on the validation part, unless the configuration names others."""

from __future__ import annotations

from typing import Any

_TREES: dict[str, list[Any]] = {"leaves": [7, 15], "min_leaf": [20], "learning_rate": [0.1]}
_NDCG: list[Any] = ["ndcg@5/letor4", "ndcg@10/letor4", "ndcg@10/geng"]

GRIDS: dict[str, dict[str, list[Any]]] = {
    "ranksvm": {"lam": [1.0, 1e-1, 1e-2, 1e-3, 1e-4]},
    "rankboost": {"thresholds": [10, 255]},
    "listnet": {"mapping": ["grade", "gain", "relevant"], "scale": [1.0, 3.0], "l2": [1e-1, 1e-2, 1e-3]},
    "adarank-map": {"objective": ["ap"]},
    "adarank-ndcg": {"objective": _NDCG},
    "mhr-bc": {"lam": [1.0, 1e-1, 1e-2, 1e-3]},
    "lambdamart": _TREES,
    "regression": {"l2": [100.0, 10.0, 1.0, 0.01]},
    "boosted-regression": _TREES,
    "ser": {"C": [0.1, 1.0, 10.0], "theta": [0.25, 0.5, 0.75], "delta": [1.0, 5.0]},
    "sser": {"gamma": [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0]},
    "bordacount": {"best": ["low"]},
    "cps-kendall": {"l2": [1e-2, 1e-4]},
    "cps-footrule": {"l2": [1e-2, 1e-4]},
    "cps-spearman": {"l2": [1e-2, 1e-4]},
}
"""Values of each parameter by learner; parameters that are not named keep their default."""
