"""Ways to aggregate rankings, by name; they take ranks (n_documents, n_lists) where learners take features."""

from __future__ import annotations

from typing import Any

from qdrank.registry import Registry

AGGREGATORS = Registry(
    "aggregator",
    {
        "bordacount": "qdrank.aggregators.fusion:BordaCount",
        "cps-kendall": "qdrank.aggregators.cps:CPSKendall",
        "cps-footrule": "qdrank.aggregators.cps:CPSFootrule",
        "cps-spearman": "qdrank.aggregators.cps:CPSSpearman",
    },
)

#: Default settings to try on the validation part.
AGGREGATOR_GRIDS: dict[str, dict[str, list[Any]]] = {
    "bordacount": {"best": ["low"]},
    "cps-kendall": {"l2": [1e-2, 1e-4]},
    "cps-footrule": {"l2": [1e-2, 1e-4]},
    "cps-spearman": {"l2": [1e-2, 1e-4]},
}
