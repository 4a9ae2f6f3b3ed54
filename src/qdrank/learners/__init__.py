"""Learners by name; to add one, write one file and add one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qdrank.registry import Registry

LEARNERS = Registry(
    "learner",
    {
        "ranksvm": "qdrank.learners.ranksvm.estimator:RankSVM",
        "rankboost": "qdrank.learners.classic.boosting:RankBoost",
        "listnet": "qdrank.learners.classic.linear:ListNet",
        "adarank-map": "qdrank.learners.classic.boosting:AdaRankMAP",
        "adarank-ndcg": "qdrank.learners.classic.boosting:AdaRankNDCG",
        "mhr-bc": "qdrank.learners.ranksvm.estimator:MultipleHyperplaneRanker",
        "lambdamart": "qdrank.learners.classic.trees:LambdaMART",
        "regression": "qdrank.learners.classic.linear:Regression",
        "boosted-regression": "qdrank.learners.classic.trees:BoostedRegression",
        "ser": "qdrank.learners.ensemble.ser:SER",
        "sser": "qdrank.learners.ensemble.ser:SSER",
        "atvt": "qdrank.learners.atvt.estimator:ATVT",
    },
)

# Like the registry "module:attribute": a plain name of a module would count as an import of it, and every job that
# looks up one learner would depend on the code of all.
_PUBLIC = {
    "RankSVM": "qdrank.learners.ranksvm.estimator:RankSVM",
    "RankBoost": "qdrank.learners.classic.boosting:RankBoost",
    "ListNet": "qdrank.learners.classic.linear:ListNet",
    "AdaRankMAP": "qdrank.learners.classic.boosting:AdaRankMAP",
    "AdaRankNDCG": "qdrank.learners.classic.boosting:AdaRankNDCG",
    "MultipleHyperplaneRanker": "qdrank.learners.ranksvm.estimator:MultipleHyperplaneRanker",
    "LambdaMART": "qdrank.learners.classic.trees:LambdaMART",
    "Regression": "qdrank.learners.classic.linear:Regression",
    "BoostedRegression": "qdrank.learners.classic.trees:BoostedRegression",
    "SER": "qdrank.learners.ensemble.ser:SER",
    "SSER": "qdrank.learners.ensemble.ser:SSER",
    "ATVT": "qdrank.learners.atvt.estimator:ATVT",
    "Choice": "qdrank.learners.choose:Choice",
    "ValidationQueries": "qdrank.learners.choose:ValidationQueries",
    "choose": "qdrank.learners.choose:choose",
    "tune": "qdrank.learners.fitting:tune",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562), since the registry alone needs no NumPy."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name].partition(":")[0]), name)
