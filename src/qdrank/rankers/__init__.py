"""Query-dependent use of models: which training queries, which model, for which test query."""

from __future__ import annotations

from qdrank.registry import Registry

#: Rankers by the name that their stored form has.
RANKERS = Registry(
    "ranker",
    {
        "linear": "qdrank.rankers.plain:LinearRanker",
        "trees": "qdrank.rankers.plain:TreeRanker",
        "with-vectors": "qdrank.rankers.plain:WithQueryVectors",
        "with-evidence": "qdrank.rankers.plain:WithEvidence",
        "local": "qdrank.rankers.local_ranker:LocalRanker",
        "bilinear": "qdrank.rankers.bilinear:Bilinear",
        "mixture": "qdrank.rankers.mixture:Mixture",
        "evidence": "qdrank.rankers.evidence:NeighbourEvidence",
        "prior": "qdrank.rankers.evidence:DocumentPrior",
        "candidates": "qdrank.queries.profiles:CandidateLists",
        "text": "qdrank.queries.profiles:QueryTexts",
        "vectors": "qdrank.queries.profiles:QueryVectors",
    },
)
