"""Lin 2011: local Ranking SVMs of clusters, one chosen (Naive) or several aggregated (SelectRanker, Transform).

Much of the paper is lost. Each inferred choice is an option of `methods.Readings`, and its default is our proposal.
"""

from __future__ import annotations

from typing import Any

from qdrank.measures import CONVENTIONS
from qdrank.studies.lin2011.methods import METHODS
from qdrank.studies.lin2011.methods import run as methods_run
from qdrank.studies.study import Output, Step, Study, scores_and_rankers

_ROOM = "qdrank.studies.lin2011"
_JUDGED = {"judged": "judged.parquet"}
_SINGLES = {"singles": "{fold}/models/lin-singles.parquet"}
_SHARDS = {"clusters": "{fold}/lin/shards/{scatteritem}.parquet"}
_CHOICES = "{fold}/choices/lin-ranksvm.parquet"
#: Convention of the study's measures.
CONVENTION = "letor4"


def _units(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "ms": settings.lin.ms,
        "seeds": list(range(1, settings.refits + 1)),
        "base": settings.seed,
        "random": settings.lin.random,
        "starts": settings.training.starts,
    }


def _baselines(run: Any) -> Any:
    return run.baselines_of("lin")


STEPS = (
    Step(
        name="train_lin_single",
        says="The global Ranking SVM, its lambda chosen among as many as the methods have settings.",
        call=f"{_ROOM}.singles:write_singles",
        reads=_JUDGED,
        makes={"models": _SINGLES["singles"], "choices": _CHOICES},
        params=lambda run: {**run.training, "grid": run.settings.lin.grid(), "seed": run.settings.seed},
        memory=(800, 4.5),
        minutes=(30, 3),
        priority=11,  # the longest jobs wait for it
        together="always",
    ),
    Step(
        name="train_lin",
        says="One shard of the clusters of a fold and their models, for every number of clusters and lambda.",
        call=f"{_ROOM}.units:train_units",
        reads={**_JUDGED, **_SINGLES, "columns": "columns.parquet"},
        makes=_SHARDS,
        params=lambda run: {
            **run.training,
            "lambdas": run.settings.lin.lambdas,
            "readings": run.settings.lin.readings(),
            **_units(run),
        },
        memory=(700, 8.5),
        # for each MB of documents several times what has been measured
        minutes=lambda run: (60, 0.1 * run.settings.refits * len(run.settings.lin.lambdas) / run.shards),
        priority=10,
        shards="lin",
        least=6,
    ),
    Step(
        name="score_lin",
        says="Naive, SelectRanker, Transform, the oracles and the controls: settings chosen on validation, measured on test queries.",
        call=f"{_ROOM}.scoring:write_scores",
        reads={**_JUDGED, **_SINGLES, **_SHARDS, "columns": "columns.parquet", "choices": _CHOICES},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run.settings.lin)),
            "choices": "{fold}/choices/lin.parquet",
            **{name: f"{{fold}}/lin/{name}.parquet" for name in ("values", "ranked", "controls")},
            "summary": "{fold}/lin/clusters.parquet",
        },
        params=lambda run: {
            "scale": run.settings.training.scale,
            "grid": run.settings.lin.grid(),
            "readings": run.settings.lin.readings(),
            "measures": list(CONVENTIONS[CONVENTION]),
            "ranked": run.settings.lin.ranked,
            "starts": run.settings.training.starts,
            "seed": run.settings.seed,
        },
        memory=(700, 7.5),
        minutes=(60, 1),
    ),
    Step(
        name="measure_lin_baselines",
        says="Measures of the classic methods of the tables.",
        call="qdrank.evaluation.measuring:write_measures",
        reads={
            **_JUDGED,
            "scores": lambda files: files.scores(_baselines(files.run)),
            "refits": lambda files: files.refits(_baselines(files.run)),
        },
        makes={"measures": "lin/baselines.parquet"},
        params=lambda run: {"measures": list(CONVENTIONS[CONVENTION]), **run.measured(_baselines(run))},
        memory=(600, 2),
        minutes=(30, 0.05),
    ),
)

_VALUES = {"values": "{fold}/lin/values.parquet"}
_SCORED = {**_VALUES, "ranked": "{fold}/lin/ranked.parquet"}  # the figures of both are one job
_BASELINES = {"baselines": "lin/baselines.parquet"}
_CLASSES = ("difficulty.classes",)

STUDY = Study(
    name="lin2011",
    short="lin",
    paper="Lin 2011",
    idea="Cluster the training data, train a local model per cluster, and add up the scores of several of them.",
    against="lin-ranksvm",
    one_model="lin-ranksvm",
    section=f"{_ROOM}.settings:Lin",
    methods=METHODS,
    run=methods_run,
    steps=STEPS,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_clusters",
            {"lin-fig2": "Figure 2: number of clusters"},
            _SCORED,
            said="Choosing the best local model for each query (UpperBound) would leave a lot of room above RankSVM.",
            claims=("lin-*", "most *", "relevant-only*", "upper-bound*"),
            caption="MAP against the number of clusters, each method with the settings that validation chose for that "
            "number in each fold. Lines are means over the runs of K-means; bands reach from the worst to the best "
            "run. RelevantOnly and UpperBound use the judgments of the test query: they are oracles, not methods. The "
            "upper panel holds UpperBound against that of as many randomly perturbed RankSVMs, equal to the local "
            "models in mean average precision on validation, and against that of models of random clusters of the "
            "same sizes. If these are as high, the headroom is no evidence of local structure. Lin et al. 2011, "
            "Figure 2.",
        ),
        Output(
            f"{_ROOM}.figures:draw_places",
            {"lin-fig3": "Figure 3: the j-th best model"},
            _SCORED,
            said="Among 100 local models, sorted by how well they rank a query, RankSVM is around the 19th.",
            claims=("place",),
            caption="For each test query the local models are sorted by their average precision on it; the line is "
            "the mean over the queries at each position, over all runs of K-means. Dashed: RankSVM; the dot shows its "
            "position among the local models. The control, which the paper lacks, is a set of randomly perturbed "
            "RankSVMs, equal to the local models in mean average precision on validation. Lin et al. 2011, Figure 3.",
        ),
        Output(
            f"{_ROOM}.figures:draw_difficulty",
            {"lin-fig4": "Figure 4: relevant documents"},
            _JUDGED,
            _CLASSES,
            said="The paper's figure is of MQ2007: 17 % of the queries are hard, 47 % normal and 21 % easy, by their number of relevant documents; of MQ2008 it says 38, 31 and 2 %.",
            claims=("hard*", "normal*", "easy*"),
            caption="Queries by their number of relevant documents (grade 1 or more), coloured by the class of "
            "difficulty (``difficulty.classes``). Lin et al. 2011, Figure 4.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "lin-table1": "Table 1: rank aggregation",
                "lin-table2": "Table 2: methods",
                "lin-table3": "Table 3: difficulty",
                "lin-table4": "Table 4: largest gains and losses",
            },
            {**_VALUES, **_BASELINES, **_JUDGED, "topics": "topics.parquet"},
            _CLASSES,
            caption={
                "lin-table1": "BordaCount and the three variants of CPS, with the ranks read as ranks and upside "
                "down, beside RankSVM and the paper's methods. Figures published for BordaCount on LETOR's "
                "aggregation data are reproduced only if the larger rank number is the better one. The paper compares "
                "its methods on MQ2007 and MQ2008 with aggregators on the -agg sets, which have other inputs; here "
                "the methods use features made from the same ranks. Data without rankings have only the rows of the "
                "methods. Means over all test queries and, with clusters, over the runs of K-means. Lin et al. 2011, "
                "Table 1.",
                "lin-table2": "RankSVM, the paper's methods, their controls (random clusters, the weights of another "
                "query, equal weights), and the classic learners that were run; means over all test queries and runs "
                'of K-means. "+": above RankSVM, as in the paper. "*": different from RankSVM with p < 0.05 (paired t '
                "test, Holm's correction over all methods on that measure), where enough queries differ and a "
                "bootstrap agrees. RankSVM chose its lambda among as many values as the methods have settings. NDCG@k "
                "is that of the LETOR 4.0 script: 0 for queries with fewer than k documents. The spread is the "
                "standard deviation of MAP over the runs. Lin et al. 2011, Table 2.",
                "lin-table3": "RankSVM and the paper's methods by the difficulty of the queries, that is, their "
                "number of relevant documents; queries without any are a class of their own. Differences from RankSVM "
                "with bootstrap intervals and paired t tests, with p also corrected by Holm's method over all classes "
                "and methods of a measure. Values are means over the runs of K-means. A class of fewer than ten "
                "queries has no intervals and no tests. Lin et al. 2011, Table 3.",
                "lin-table4": "The test queries with the largest gains and losses of SelectRanker and of Transform "
                "over RankSVM in average precision, with their words where the data have them. Among hundreds of "
                "queries the extremes are large for any method: an illustration, not evidence. Lin et al. 2011, Table "
                "4.",
            },
        ),
        Output(
            f"{_ROOM}.tables:tabulate_details",
            {"lin-seeds": "seeds and settings", "lin-clusters": "clusters", "lin-controls": "perturbed models"},
            {
                **_VALUES,
                "choices": "{fold}/choices/lin.parquet",
                "clusters": "{fold}/lin/clusters.parquet",
                "controls": "{fold}/lin/controls.parquet",
            },
            caption={
                "lin-seeds": "MAP of every method with every run of K-means, and the settings that validation chose "
                "in each fold: number of clusters m, lambda of the local models, and size, the top documents of Naive "
                "or similar queries of SelectRanker.",
                "lin-clusters": "Clusters, as means over folds, runs of K-means and lambdas: how many were empty, how "
                "many had no preference pair and so use the global model, and how many training queries a cluster "
                'touches. "pairs" are clusters of relevant documents (Naive, SelectRanker), "transformed" those of '
                'transformed queries (Transform), "-random" random ones of the same sizes.',
                "lin-controls": "How well the perturbed RankSVMs match the local models: mean average precision of a "
                "single model, over folds and runs. The size of the perturbations, relative to the length of "
                "RankSVM's weights, was found by bisection on validation queries.",
            },
        ),
    ),
    observations=Output(
        f"{_ROOM}.tables:gather",
        {"lin-claims": "claims"},
        {**_SCORED, **_BASELINES, **_JUDGED},
        _CLASSES,
        caption="Claims of Lin et al. 2011: what was expected, what was measured with its interval at the corrected "
        "level, and the verdict. Values are means over the runs of K-means. docs/verdicts.md explains the scheme.",
    ),
    claims=f"{_ROOM}.claims:declare",
    main="lin-transform = lin-ranksvm",
    rankers={"clusters": f"{_ROOM}.ranker:ClusterRanker"},
    budget=("lin.ms", "lin.lambdas", "lin.ts", "lin.ks"),
)
