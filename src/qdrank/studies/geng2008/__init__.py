"""Geng 2008: Ranking SVM trained on a query's k nearest training queries."""

from __future__ import annotations

from qdrank.studies.geng2008.methods import METHODS, TREES, neighbours_tried, run
from qdrank.studies.geng2008.steps import STEPS
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.geng2008"
_VALUES = {"values": "{fold}/geng/values.parquet"}
_FIRST = {name: f"{{first}}/{name}.parquet" for name in ("queries", "neighbours", "classes")}
_DESCRIBED = {name: f"{{fold}}/{name}.parquet" for name in ("queries", "neighbours", "classes")}
_BOUNDS = {"bounds": "{fold}/geng/bound.parquet"}
_MEASURES = {"measures": "geng/measures.parquet"}

STUDY = Study(
    name="geng2008",
    short="geng",
    paper="Geng 2008",
    idea="Train a Ranking SVM for each query, on the k training queries nearest to it.",
    against="single",
    one_model="single",
    section=f"{_ROOM}.settings:Geng",
    methods=METHODS,
    run=run,
    steps=STEPS,
    measures=("geng", "ap", "ndcg@10/letor4"),
    headline="geng-fig7",
    figures=(
        Output(
            f"{_ROOM}.figures:draw_queries",
            {"geng-fig1": "Figure 1: query space"},
            _FIRST,
            said="Queries of one type lie near each other in the space of query features: the locality property.",
            claims=("locality",),
            caption="Queries of the first fold on the first two principal components of their vectors, the mean "
            "features of a query's top documents. Colours are the types of the queries where the data have them, else "
            "K-means classes of the vectors. With types, the right panel shows how many of a test query's k nearest "
            'training queries have its type, against chance: the paper\'s "locality property". K-means classes lie '
            "together by construction, so they have no such panel. The asinh scale shortens distances far from 0, so "
            "that every query is in the picture. Geng et al. 2008, Figure 1.",
        ),
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"geng-fig7": "Figure 7: methods"},
            _MEASURES,
            said="All three KNN methods are above Single and QC at every rank, and hardly differ from each other.",
            caption="NDCG@1 to @10 and their mean (eq. 4: gain 2^r - 1, no discount at positions 1 and 2, then log2) "
            "of the paper's methods on all test queries, with bootstrap intervals. Validation chose k and lambda of "
            "each method in each fold. Intervals are wide because queries differ, not because methods do: claims rest "
            "on the paired differences from Single. Geng et al. 2008, Figure 7.",
        ),
        Output(
            f"{_ROOM}.figures:draw_differences",
            {"geng-differences": "differences from Single"},
            _MEASURES,
            said="Not in the paper. The claims rest on these paired differences, not on the curves of Figure 7.",
            claims=("knn-* - *", "qc* - single"),
            caption="Mean NDCG of each method on the test queries (left), and its paired difference from Single "
            "(right; right of 0 the method is better), with bootstrap intervals. The claims of Figure 7 rest on these "
            "differences. Intervals are not corrected for the number of methods; those of the claims are. Not in the "
            "paper.",
        ),
        Output(
            f"{_ROOM}.figures:draw_controls",
            {"geng-controls": "controls and baselines"},
            _MEASURES,
            said="Not in the paper: Single beside random neighbours, equal query weights and boosted trees.",
            claims=("lambdamart*", "single-equal*"),
            caption="As Figure 7, for the controls and baselines that the paper lacks, beside Single: NDCG@1 to @10 "
            "(eq. 4) and their mean on all test queries, with bootstrap intervals. Validation chose the settings of "
            "each method in each fold. Not in the paper.",
        ),
        Output(
            f"{_ROOM}.figures:draw_neighbours",
            {"geng-fig8": "Figure 8: number of neighbours"},
            _VALUES,
            ("geng.lam",),
            said="NDCG rises with k, is flat from 300 to 800 of 1,500 training queries, and then falls.",
            claims=("curve *", "flat *", "k = m"),
            caption="NDCG@5 and NDCG@10 (eq. 4) of the three KNN methods against the number of neighbours k, with one "
            "lambda for all. Dashed: Single, which uses all m training queries; dotted: random training queries for "
            "neighbours. Bars are intervals of the paired difference from Single: a bar that does not reach the "
            "dashed line is significant at that k, uncorrected for the number of values. As k is a share of the "
            "training queries, whose number differs between folds, the logarithmic axis has its mean over folds; "
            "methods stand side by side. Geng et al. 2008, Figure 8.",
        ),
        Output(
            f"{_ROOM}.figures:draw_ratios",
            {"geng-fig9": "Figure 9: change ratio"},
            _VALUES,
            ("geng.lam",),
            said="The change ratio is small and falls with k, and that of Offline-1 is below that of Offline-2.",
            claims=("gamma *",),
            caption="Change ratio gamma = (p1 + p2 - 2 shared) / min(p1, p2), in document pairs, between the training "
            "set of KNN Online and that of the model which an offline method uses instead: mean over the test "
            "queries, with interval. A query whose neighbourhood has no pair is left out; the numbers behind the "
            "picture count them. Geng et al. 2008, Figure 9.",
        ),
        Output(
            f"{_ROOM}.figures:draw_bound",
            {"geng-bound": "Theorem 1: stability bound"},
            _BOUNDS,
            said="The paper proves the bound and does not measure it. Every point must lie below the diagonal.",
            claims=("bound",),
            caption="Theorem 1: for sampled test queries and document pairs, the largest difference in hinge loss "
            "between the models of KNN Online and of an offline method, against the bound kappa^2 gamma / lambda; "
            "kappa is the largest distance between two training documents of different grade of one query. Both are "
            "equal on the dashed line; differences below 0.0001, the precision of training, are drawn there. Only "
            "these models are trained with the hinge loss of the theorem, for a few queries (``geng.bound_queries``) "
            "and numbers of neighbours (``geng.candidates``); all others of the study minimise the squared hinge. The "
            "objective has ``lambda/2 ||w||^2`` . Geng et al. 2008, section 3.3.4.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "geng-methods": "methods",
                "geng-folds": "methods by fold",
                "geng-tests": "tests of Figure 7",
                "geng-qc": "classes for QC",
            },
            {
                **_MEASURES,
                "choices": "{fold}/choices/geng.parquet",
                **{tree: f"{{fold}}/choices/{tree}.parquet" for tree in TREES},
                "classes": "{fold}/classes.parquet",
            },
            titles={"geng-tests": "KNN against Single and QC, mean NDCG", "geng-qc": "classes for QC, test queries"},
            caption={
                "geng-methods": "Every method on the test queries: means, the paired difference from Single in mean "
                "NDCG with its bootstrap interval and the p-value of a paired t test (uncorrected; the verdict is by "
                "Holm's p-value over this table), and the settings that validation chose in each fold.",
                "geng-folds": "Means per fold: average precision, mean NDCG as in Geng 2008, and NDCG@10 as the LETOR "
                'script computes it. "Mean of folds" is what LETOR publishes.',
                "geng-tests": "Paired two-sided tests of each KNN method against Single and QC in mean NDCG, on all "
                "test queries. The six p-values of the t tests are corrected together by Holm's method. The smallest "
                'detectable difference would be found in four of five studies (power 0.8); it tells how much "not '
                'significant" means.',
                "geng-qc": "QC ranks a query with the model of its predicted class: how well the classes of the test "
                "queries are predicted, where they come from, and what the classifier sees. The paper reports an F1 "
                "of about 60 %. Classes made by K-means are not query types: there, QC is only a stand-in.",
            },
        ),
        Output(
            f"{_ROOM}.tables:tabulate_times",
            {"geng-table1": "Table 1: time of testing"},
            {"times": "geng/table1-times.parquet"},
            titles={"geng-table1": "time of testing, one thread"},
            caption="Milliseconds of processor time, on one thread, for each step of testing a query that arrives, "
            "for parts of the training queries and several k, beside the paper's order. Models are trained one query "
            "after the other: cold, from the documents of the neighbours alone, and warm, from Single and the sums "
            'made with it. Rows "once" are made once for all queries, and are in no other row. "Growth" is fitted to '
            "the columns; for training also in the paper's form, (kp)^c, where kp is the number of document pairs "
            "learned from. The paper trains offline because online training takes too long; where the row of the warm "
            "start has milliseconds, as ``qdrank rank --method online`` serves it, the offline methods save little. "
            "At most 2,000 training queries are timed; for more, the growth says what to expect. Times are those of "
            "the machine that made this report; nothing else depends on them. Geng et al. 2008, Table 1.",
        ),
        Output(
            f"{_ROOM}.tables:tabulate_variants",
            {"geng-variants": "variants of KNN Online"},
            {"values": "{fold}/geng/variants.parquet"},
            caption="Variants of KNN Online. Most are the future work of Geng et al. 2008: other metrics, other query "
            "vectors, a fixed radius, a KD-tree, one model per cluster of training queries. The others choose among "
            "the ready models of the training queries: that of the nearest query (Offline-2), or the one whose "
            "training set shares the most pairs (eq. 1) or queries, or has the smallest change ratio (Offline-1). All "
            "use the k and lambda that validation chose for KNN Online and are compared with it on the same test "
            "queries, at most ``geng.variant_queries`` of a fold, evenly spaced; p-values are not corrected. Pair "
            "visits (evaluations of a model times its pairs) measure the cost of training on any machine.",
        ),
    ),
    observations=Output(
        f"{_ROOM}.tables:gather",
        {"geng-claims": "claims"},
        {**_MEASURES, **_VALUES, **_BOUNDS, **_DESCRIBED},
        ("geng.lam",),
        caption="Claims of Geng et al. 2008: verdict, effect with its corrected interval, the rule by which each was "
        "decided, and the reason. docs/verdicts.md explains the scheme, docs/ledger.md says what had been seen when "
        "the claims were declared.",
    ),
    claims=f"{_ROOM}.claims:declare",
    main="knn-online - single",
    budget=("geng.lam", "geng.candidates", "geng.lambdas", "geng.trees", "training.lambdas as global_lambdas"),
    neighbours=neighbours_tried,
    across=f"{_ROOM}.tables:decide_across",
    timed=("geng-table1", "table1-times"),
    rankers={
        "query-classes": f"{_ROOM}.class_ranker:ClassRanker",
        "query-columns": f"{_ROOM}.query_classes:QueryColumns",
        "online": f"{_ROOM}.rankers:OnlineRanker",
    },
    retune=f"{_ROOM}.rankers:retuned",
    served={"single": "single", "offline1": "knn-offline1", "offline2": "knn-offline2", "online": "knn-online"},
)
