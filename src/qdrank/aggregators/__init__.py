"""Ways to aggregate rankings, by name; they take ranks (n_documents, n_lists) where learners take features."""

from __future__ import annotations

from qdrank.registry import Registry

AGGREGATORS = Registry(
    "aggregator",
    {
        "bordacount": "qdrank.aggregators.borda:BordaCount",
        "cps-kendall": "qdrank.aggregators.cps:CPSKendall",
        "cps-footrule": "qdrank.aggregators.cps:CPSFootrule",
        "cps-spearman": "qdrank.aggregators.cps:CPSSpearman",
    },
)
