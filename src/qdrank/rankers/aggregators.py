"""Ways to aggregate rankings, by name; they take ranks (n_documents, n_lists) where learners take features."""

from __future__ import annotations

from qdrank.registry import Registry

AGGREGATORS = Registry(
    "aggregator",
    {
        "bordacount": "qdrank.rankers.borda:BordaCount",
        "cps-kendall": "qdrank.rankers.cps:CPSKendall",
        "cps-footrule": "qdrank.rankers.cps:CPSFootrule",
        "cps-spearman": "qdrank.rankers.cps:CPSSpearman",
    },
)
