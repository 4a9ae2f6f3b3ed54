"""Learners by name; to add one, write one file and add one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qdrank.registry import Registry

LEARNERS = Registry(
    "learner",
    {
        "ranksvm": "qdrank.learners.ranksvm.estimator:RankSVM",
        "rankboost": "qdrank.learners.boosting:RankBoost",
        "listnet": "qdrank.learners.linear:ListNet",
        "adarank-map": "qdrank.learners.boosting:AdaRankMAP",
        "adarank-ndcg": "qdrank.learners.boosting:AdaRankNDCG",
        "mhr-bc": "qdrank.learners.ranksvm.estimator:MultipleHyperplaneRanker",
        "lambdamart": "qdrank.learners.trees:LambdaMART",
        "regression": "qdrank.learners.linear:Regression",
        "boosted-regression": "qdrank.learners.trees:BoostedRegression",
        "ser": "qdrank.learners.ensemble.ser:SER",
        "sser": "qdrank.learners.ensemble.ser:SSER",
        "atvt": "qdrank.learners.atvt.estimator:ATVT",
        "bordacount": "qdrank.learners.fusion:BordaCount",
        "cps-kendall": "qdrank.learners.cps:CPSKendall",
        "cps-footrule": "qdrank.learners.cps:CPSFootrule",
        "cps-spearman": "qdrank.learners.cps:CPSSpearman",
    },
)
#: Those that take ranks (n_documents, n_lists), where the others take features.
AGGREGATORS = ("bordacount", "cps-kendall", "cps-footrule", "cps-spearman")

# Like the registry "module:attribute": a plain name of a module would count as an import of it, and every job that
# looks up one learner would depend on the code of all.
_PUBLIC = {
    "Choice": "qdrank.learners.choose:Choice",
    "ValidationQueries": "qdrank.learners.choose:ValidationQueries",
    "choose": "qdrank.learners.choose:choose",
    "tune": "qdrank.learners.choose:tune",
}
_PUBLIC |= {target.partition(":")[2]: target for target in LEARNERS.targets.values()}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562), since the registry alone needs no NumPy."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name].partition(":")[0]), name)
