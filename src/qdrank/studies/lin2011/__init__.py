"""Lin 2011: local Ranking SVMs of clusters, one chosen (Naive) or several aggregated (SelectRanker, Transform).

Much of the paper is lost. Each inferred choice is an option of `readings.Readings`, and its default is our proposal.
"""

from __future__ import annotations

from qdrank.studies.lin2011.methods import METHODS, run
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.lin2011"
_SEEDS = {"seeds": "{fold}/lin/seeds.parquet"}
_CURVE = {"curve": "{fold}/lin/curve.parquet"}
_RANKED = {"ranked": "{fold}/lin/ranked.parquet"}
_SCORED = {**_CURVE, **_RANKED}  # of one job: the figures of both are one job, too
_BASELINES = {"baselines": "lin/baselines.parquet"}
_JUDGED = {"judged": "judged.parquet"}
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
    run=run,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_clusters",
            {"lin-fig2": "Figure 2: number of clusters"},
            _SCORED,
            said="Choosing the best local model for each query (UpperBound) would leave a lot of room above RankSVM.",
            claims=("lin-*", "most *", "relevant-only*", "upper-bound*"),
        ),
        Output(
            f"{_ROOM}.figures:draw_places",
            {"lin-fig3": "Figure 3: the j-th best model"},
            _SCORED,
            said="Among 100 local models, sorted by how well they rank a query, RankSVM is around the 19th.",
            claims=("place",),
        ),
        Output(
            f"{_ROOM}.figures:draw_difficulty",
            {"lin-fig4": "Figure 4: relevant documents"},
            _JUDGED,
            _CLASSES,
            said="The paper's figure is of MQ2007: 17 % of the queries are hard, 47 % normal and 21 % easy, by their number of relevant documents; of MQ2008 it says 38, 31 and 2 %.",
            claims=("hard*", "normal*", "easy*"),
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
            {**_SEEDS, **_BASELINES, **_JUDGED, "topics": "topics.parquet"},
            _CLASSES,
        ),
        Output(
            f"{_ROOM}.tables:tabulate_details",
            {
                "lin-seeds": "seeds and settings",
                "lin-clusters": "clusters",
                "lin-controls": "perturbed models",
                "lin-readings": "inferred choices",
            },
            {
                **_SEEDS,
                "choices": "{fold}/choices/lin.parquet",
                "clusters": "{fold}/lin/clusters.parquet",
                "controls": "{fold}/lin/controls.parquet",
                "variants": "{fold}/lin/variants.parquet",
            },
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"lin-claims": "claims"},
        {**_SEEDS, **_CURVE, **_RANKED, **_BASELINES, **_JUDGED},
        _CLASSES,
    ),
    claims=f"{_ROOM}.claims:declare",
    rankers={"clusters": f"{_ROOM}.ranker:ClusterRanker"},
    budget=("lin.ms", "lin.lambdas", "lin.ts", "lin.ks"),
    also=tuple(
        f"results/{{dataset}}/{{fold}}/{made}.parquet" for made in ("models/lin-singles", "choices/lin-ranksvm")
    ),
)
