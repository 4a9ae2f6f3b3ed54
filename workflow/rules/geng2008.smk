# Geng 2008: ranking with the k nearest training queries, its baselines and controls. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet, topics.parquet, {fold}/queries.parquet, scale.parquet,
#         neighbours.parquet, metric.parquet
# writes: results/{dataset}/{fold}/models/global.parquet        Single, its variants and the class models, every lambda
#         results/{dataset}/{fold}/models/local.parquet         local models of every query, k and lambda
#         results/{dataset}/{fold}/models/lambdamart*.parquet   boosted trees, as text; choices/lambdamart*.parquet: what was tried
#         results/{dataset}/{fold}/choices/lambdamart*/         what shards of the settings chose, where a fold is divided
#         results/{dataset}/{fold}/classes.parquet              class of every query, known and guessed
#         results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/choices/geng.parquet         the settings tried, and which was chosen
#         results/{dataset}/{fold}/geng/offline.parquet         ready model of every query for the offline methods, change ratios
#         results/{dataset}/{fold}/geng/sweep.parquet           measures and change ratios for every k and lambda
#         results/{dataset}/{fold}/geng/bound.parquet           the stability bound beside what is observed
#         results/{dataset}/{fold}/geng/variants/{kind}.parquet measures of variants of KNN Online, by kind
#         results/{dataset}/geng/table1-times.parquet           time of each step of testing, on the first fold
#         results/{dataset}/{fold}/served/{method}.parquet      the methods for `qdrank rank`

from math import prod

from qdrank.studies.geng2008.methods import TREES, VARIANT_KINDS, scored

GENG = STUDIES["geng2008"]
# What decides which models are trained, and which of them rank.
GENG_TRAINED = settings.geng.trained()
# Minutes a shard may take for each MB of documents and neighbour lists: several times what has been measured.
GENG_MINUTES = (
    0.02
    * (
        len(settings.geng.ks)
        + len(settings.geng.candidates) * len(settings.geng.lambdas)
    )
    / run.shards
)
GENG_SETTINGS = prod(map(len, (settings.geng.trees or {}).values()))
# Where all settings of LambdaMART would be a long job, its grid is divided.
GENG_SMALL, GENG_DIVIDED = (
    run.small_and_others(planned.datasets)
    if GENG_SETTINGS > 1
    else (planned.datasets, [])
)


# A shard is a set of whole blocks of models; the number of shards changes no bit of what is gathered.
scattergather:
    local=scattered(workflow, run, "local"),
    # Where the models of a fold take minutes, it is divided even if folds fill the cores.
    local_large=scattered(workflow, run, "local_large", least=3),
    lambdamart=min(3, GENG_SETTINGS),


# Models of all training queries and of each class of queries, for every lambda.
for _name, _folds in run.by_folds("train_global", grows=True).items():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
            topics="results/{dataset}/topics.parquet",
            queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
        output:
            models=_folds.each("results/{dataset}/{fold}/models/global.parquet"),
            classes=_folds.each("results/{dataset}/{fold}/classes.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        resources:
            mem_mb=memory(650, 1.6),
            runtime=minutes(60, 0.5),
        params:
            **run.training,
            penalty=settings.geng.penalty,
            lambdas=sorted(
                {*settings.training.lambdas, settings.geng.lam}, reverse=True
            ),
            n_classes=settings.geng.classes,
            starts=settings.training.starts,
            seed=settings.seed,
        script:
            "../../scripts/geng2008/train_global.py"


rule train_local:
    """One shard of the local models of a fold, through every k and lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
    output:
        temp("results/{dataset}/{fold}/models/local/{scatteritem}.parquet"),
    # The longest chain first: models, scores, variants.
    priority: 10
    resources:
        mem_mb=memory(700, 2.7),
        runtime=minutes(60, GENG_MINUTES),
    params:
        **run.training,
        penalty=settings.geng.penalty,
        geng=GENG_TRAINED,
        block=settings.training.block,
        seed=settings.seed,
    script:
        "../../scripts/geng2008/train_local.py"


rule train_lambdamart:
    """LambdaMART, with and without query vectors: tuned on validation, its model, its scores of the test documents."""
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
    output:
        models="results/{dataset}/{fold}/models/{method}.parquet",
        choices="results/{dataset}/{fold}/choices/{method}.parquet",
        scores="results/{dataset}/{fold}/scores/{method}.parquet",
        served="results/{dataset}/{fold}/served/{method}.parquet",
    wildcard_constraints:
        dataset=names_pattern(GENG_SMALL),
        method=names_pattern(TREES),
    threads: lambda wc: run.tree_threads(TREES[wc.method])
    resources:
        mem_mb=memory(1000, 2.5),
        runtime=minutes(60, 1),
    params:
        learner="lambdamart",
        ranks=False,
        scale=settings.training.scale,
        measure=settings.training.measure,
        grid={
            **(settings.geng.trees or {}),
            "rounds": [settings.training.trees],
            "patience": [20],
        },
        queries=lambda wc: run.vector_options(wc, TREES[wc.method]),
        seed=settings.seed,
    script:
        "../../scripts/learn_method.py"


# The same where it would be a long job: shards of the settings, then the choice among them.
use rule train_lambdamart as try_lambdamart with:
    output:
        tried=temp("results/{dataset}/{fold}/choices/{method}/{scatteritem}.parquet"),
    wildcard_constraints:
        dataset=names_pattern(GENG_DIVIDED),
        method=names_pattern(TREES),


use rule train_lambdamart as choose_lambdamart with:
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
        tried=gather.lambdamart(
            "results/{{dataset}}/{{fold}}/choices/{{method}}/{scatteritem}.parquet"
        ),
    wildcard_constraints:
        dataset=names_pattern(GENG_DIVIDED),
        method=names_pattern(TREES),
    resources:
        mem_mb=memory(700, 2.5),
        runtime=minutes(60, 1),


# Which ready model serves each query, for every k: known from the neighbours, while the models are trained.
for _name, _folds in run.by_folds("choose_offline").items():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
            queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
            neighbours=_folds.each("results/{dataset}/{fold}/neighbours.parquet"),
        output:
            _folds.each("results/{dataset}/{fold}/geng/offline.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        # Scores and the bound wait for it.
        priority: 11
        resources:
            mem_mb=memory(700, 0.9),
            runtime=minutes(30, 0.2),
        params:
            geng={**GENG_TRAINED, "offline1": settings.geng.offline1},
        script:
            "../../scripts/geng2008/choose_offline.py"


rule score_geng:
    """Scores of Single, QC, the KNN methods and their controls, for every setting and for the chosen one, and rankers with it.

    The shards of local models become one table here: a job of its own would spend its time on starting.
    """
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        metric="results/{dataset}/{fold}/metric.parquet",
        offline="results/{dataset}/{fold}/geng/offline.parquet",
        classes="results/{dataset}/{fold}/classes.parquet",
        whole="results/{dataset}/{fold}/models/global.parquet",
        shards=files.shards(
            gather,
            "local",
            "results/{dataset}/{fold}/models/local/{scatteritem}.parquet",
        ),
    output:
        **scores_and_rankers(scored(settings.geng)),
        local="results/{dataset}/{fold}/models/local.parquet",
        choices="results/{dataset}/{fold}/choices/geng.parquet",
        sweep="results/{dataset}/{fold}/geng/sweep.parquet",
    priority: 10
    resources:
        mem_mb=memory(800, 1.4),
        runtime=minutes(45, 0.2),
    params:
        scale=settings.training.scale,
        measure=settings.training.measure,
        queries=run.query_options,
        geng={**GENG_TRAINED, "offline1": settings.geng.offline1},
        training={
            "metric": settings.neighbours.metric,
            "penalty": settings.geng.penalty,
            "tol": settings.training.tol,
            "n_classes": settings.geng.classes,
            "starts": settings.training.starts,
            "seed": settings.seed,
        },
    script:
        "../../scripts/geng2008/score_geng.py"


# The bound of theorem 1 and the differences of loss that are observed, with models of the hinge loss.
for _name, _folds in run.by_folds("check_bound").items():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
            queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
            neighbours=_folds.each("results/{dataset}/{fold}/neighbours.parquet"),
            offline=_folds.each("results/{dataset}/{fold}/geng/offline.parquet"),
        output:
            _folds.each("results/{dataset}/{fold}/geng/bound.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        # As long as a shard of local models, and it can begin no later.
        priority: 11
        resources:
            mem_mb=memory(800, 2),
            runtime=minutes(60, 3),
        params:
            **run.training,
            penalty=settings.geng.penalty,
            geng={**GENG_TRAINED, "offline1": settings.geng.offline1},
            queries=settings.geng.bound_queries,
            pairs=settings.geng.bound_pairs,
            seed=settings.seed,
        script:
            "../../scripts/geng2008/check_bound.py"


# Variants of KNN Online, most of them the paper's future work, on one fold: by kind where local models are in shards.
for _job, _kinds in run.divided("compare_variants", VARIANT_KINDS).items():

    for _name, _folds in run.by_folds(_job, grows=True).items():

        rule:
            name:
                _name
            input:
                judged="results/{dataset}/judged.parquet",
                columns="results/{dataset}/columns.parquet",
                topics="results/{dataset}/topics.parquet",
                queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
                choices=_folds.each("results/{dataset}/{fold}/choices/geng.parquet"),
            output:
                **{
                    kind: _folds.each(
                        f"results/{{dataset}}/{{fold}}/geng/variants/{kind}.parquet"
                    )
                    for kind in _kinds
                },
            wildcard_constraints:
                dataset=names_pattern(_folds.datasets),
            priority: 5
            resources:
                mem_mb=memory(800, 2.1),
                runtime=minutes(60, 0.5),
            params:
                **run.training,
                penalty=settings.geng.penalty,
                block=settings.training.block,
                vectors=run.query_options,
                metric=settings.neighbours.metric,
                clusters=settings.geng.clusters,
                starts=settings.training.starts,
                most=settings.geng.variant_queries,
                seed=settings.seed,
            script:
                "../../scripts/geng2008/compare_variants.py"


rule time_testing:
    """Time of each step of testing; apart from its table, so that a new title does not take the time again."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        "results/{dataset}/geng/table1-times.parquet",
    resources:
        mem_mb=memory(800, 1.3),
        runtime=minutes(30, 0.5),
    params:
        **run.training,
        lam=settings.geng.lam,
        penalty=settings.geng.penalty,
        fold=lambda wc: run.folds(wc)[0],
    script:
        "../../scripts/geng2008/time_testing.py"
