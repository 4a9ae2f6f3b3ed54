"""Query-dependent use of models: which training queries and which model to use for each test query."""

from __future__ import annotations

from qdrank.registry import Registry

#: Rankers and their parts, by the name of their stored form; a study adds its own.
RANKERS = Registry(
    "ranker",
    {
        "feature": "qdrank.rankers.reference:OneFeature",
        "linear": "qdrank.rankers.one_model:LinearRanker",
        "learner": "qdrank.rankers.learned:LearnerRanker",
        "own": "qdrank.learners.own:OwnLearner",
        "trees": "qdrank.rankers.one_model:TreeRanker",
        "with-vectors": "qdrank.rankers.learned:WithQueryVectors",
        "with-evidence": "qdrank.rankers.one_model:WithEvidence",
        "of-others": "qdrank.rankers.others:OfOthers",
        "first-stage": "qdrank.rankers.searcher:Searcher",
        "ready": "qdrank.rankers.ready:ReadyModels",
        "local": "qdrank.rankers.local_ranker:LocalRanker",
        "bilinear": "qdrank.rankers.bilinear:Bilinear",
        "mixture": "qdrank.rankers.bilinear:Mixture",
        "one-run": "qdrank.rankers.run_scores:OneRun",
        "fused-runs": "qdrank.rankers.run_scores:FusedRuns",
        "on-run-scores": "qdrank.rankers.run_scores:OnRunScores",
        "fixed-weights": "qdrank.rankers.run_weights:FixedWeights",
        "neighbour-weights": "qdrank.rankers.run_weights:NeighbourWeights",
        "predicted-weights": "qdrank.rankers.run_weights:PredictedWeights",
        "margin-weights": "qdrank.rankers.run_weights:MarginWeights",
        "run-predictors": "qdrank.queries.predictors:RunPredictors",
        "evidence": "qdrank.rankers.evidence:NeighbourEvidence",
        "prior": "qdrank.rankers.evidence:DocumentPrior",
        "candidates": "qdrank.queries.profiles:CandidateLists",
        "words": "qdrank.queries.profiles:QueryTexts",
        "vectors": "qdrank.queries.profiles:QueryVectors",
        "documents": "qdrank.rankers.documents:DocumentView",
        "document-vectors": "qdrank.queries.recipe:DocumentVectors",
    },
)
