"""Query-dependent use of models: rankers by their stored names, and the names of the first stages."""

from __future__ import annotations

from qdrank.registry import Registry

#: Rankers and their parts, by the name of their stored form; a study adds its own.
RANKERS = Registry(
    "ranker",
    {
        "feature": "qdrank.rankers.served:OneFeature",
        "linear": "qdrank.rankers.one_model:LinearRanker",
        "learner": "qdrank.rankers.learned:LearnerRanker",
        "own": "qdrank.learners.own:OwnLearner",
        "trees": "qdrank.rankers.one_model:TreeRanker",
        "with-vectors": "qdrank.rankers.learned:WithQueryVectors",
        "with-evidence": "qdrank.rankers.one_model:WithEvidence",
        "of-others": "qdrank.rankers.base:OfOthers",
        "first-stage": "qdrank.rankers.stored:Searcher",
        "ready": "qdrank.rankers.local_ranker:ReadyModels",
        "local": "qdrank.rankers.local_ranker:LocalRanker",
        "bilinear": "qdrank.rankers.bilinear:Bilinear",
        "mixture": "qdrank.rankers.bilinear:Mixture",
        "one-run": "qdrank.rankers.run_scores:OneRun",
        "fused-runs": "qdrank.rankers.run_scores:FusedRuns",
        "on-run-scores": "qdrank.rankers.run_scores:OnRunScores",
        "fixed-weights": "qdrank.rankers.run_weights:FixedWeights",
        "split-weights": "qdrank.rankers.run_weights:SplitWeights",
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

#: The first stage that retrieved the candidates, or the feature that ranks like it; every method starts from it.
REFERENCE = "reference"
#: What an encoder retrieves, where the configuration names one.
DENSE = "dense"
#: Methods that retrieve their own documents from a whole text collection, as many as there are candidates.
RETRIEVERS = {"bm25-tuned": "BM25, tuned", "rm3": "RM3 on tuned BM25", DENSE: "dense encoder"}
#: RM3 as an order of the candidates, which learned rankers order too.
RM3_RERANKS = "rm3-candidates"
#: All first stages that tables of methods include, with their labels.
FIRST_STAGES = {REFERENCE: "first stage (reference)", **RETRIEVERS, RM3_RERANKS: "RM3, of the candidates"}
