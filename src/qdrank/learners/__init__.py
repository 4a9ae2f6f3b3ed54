"""Learners by name; a learner is added by one file and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from qdrank.registry import Registry

LEARNERS = Registry(
    "learner",
    {
        "ranksvm": "qdrank.learners.ranksvm:RankSVM",
        "rankboost": "qdrank.learners.rankboost:RankBoost",
        "listnet": "qdrank.learners.listnet:ListNet",
        "adarank-map": "qdrank.learners.adarank:AdaRankMAP",
        "adarank-ndcg": "qdrank.learners.adarank:AdaRankNDCG",
        "adarank-map-boost": "qdrank.learners.adarank:AdaRankMAPBoost",
        "adarank-ndcg-boost": "qdrank.learners.adarank:AdaRankNDCGBoost",
        "mhr-bc": "qdrank.learners.mhr:MultipleHyperplaneRanker",
        "lambdamart": "qdrank.learners.trees:LambdaMART",
        "regression": "qdrank.learners.regression:Regression",
        "boosted-regression": "qdrank.learners.trees:BoostedRegression",
        "ser": "qdrank.learners.ser:SER",
        "sser": "qdrank.learners.sser:SSER",
        "atvt": "qdrank.learners.atvt:ATVT",
    },
)

# Like the registry "module:attribute": a plain name of a module would count as an import of it, and every job that
# looks up one learner would depend on the code of all.
_PUBLIC = {
    "RankSVM": "qdrank.learners.ranksvm:RankSVM",
    "RankBoost": "qdrank.learners.rankboost:RankBoost",
    "ListNet": "qdrank.learners.listnet:ListNet",
    "AdaRankMAP": "qdrank.learners.adarank:AdaRankMAP",
    "AdaRankNDCG": "qdrank.learners.adarank:AdaRankNDCG",
    "AdaRankMAPBoost": "qdrank.learners.adarank:AdaRankMAPBoost",
    "AdaRankNDCGBoost": "qdrank.learners.adarank:AdaRankNDCGBoost",
    "MultipleHyperplaneRanker": "qdrank.learners.mhr:MultipleHyperplaneRanker",
    "LambdaMART": "qdrank.learners.trees:LambdaMART",
    "Regression": "qdrank.learners.regression:Regression",
    "BoostedRegression": "qdrank.learners.trees:BoostedRegression",
    "SER": "qdrank.learners.ser:SER",
    "SSER": "qdrank.learners.sser:SSER",
    "ATVT": "qdrank.learners.atvt:ATVT",
    "Choice": "qdrank.learners.tuning:Choice",
    "tune": "qdrank.learners.tuning:tune",
}


def from_record(record: dict[str, Any]) -> Any:
    """The fitted learner whose ``to_record`` gave ``record``."""
    return LEARNERS[record["learner"]].from_record(record)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562): the registry alone needs no NumPy."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name].partition(":")[0]), name)
