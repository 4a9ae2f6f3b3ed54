# Lin 2011: local models of clusters, one chosen or several aggregated. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet; scores of classic methods for the tables
# writes: results/{dataset}/{fold}/models/lin-singles.parquet    RankSVM, every lambda
#         results/{dataset}/{fold}/scores/{method}.parquet       with the settings that validation chose, first seed
#         results/{dataset}/{fold}/served/{method}.parquet       the methods for `qdrank rank`
#         results/{dataset}/{fold}/choices/lin.parquet           the settings tried, and which was chosen
#         results/{dataset}/{fold}/lin/seeds.parquet             measures of every method and seed of the clusters
#         results/{dataset}/{fold}/lin/curve.parquet             average precisions for every number of clusters
#         results/{dataset}/{fold}/lin/ranked.parquet            average precisions of all models of a query, best first
#         results/{dataset}/{fold}/lin/clusters.parquet          sizes of clusters, and those that fell back
#         results/{dataset}/{fold}/lin/controls.parquet          how well the perturbed models match the local ones
#         results/{dataset}/{fold}/lin/variants.parquet          the inferred choices varied one by one
#         results/{dataset}/lin/baselines.parquet                measures of the classic methods of the tables

LIN = STUDIES["lin2011"]
LIN_DATASETS = names_pattern(run.datasets_of(LIN))
LIN_MEASURES = study_measures(LIN)
LIN_SEEDS = list(range(1, settings.refits + 1))
# Minutes a shard may take for each MB of documents: several times what has been measured.
LIN_MINUTES = 0.1 * settings.refits * len(settings.lin.lambdas) / run.shards


# A shard is a set of whole units (clusterings of one kind, seed and number of clusters); shards change no bit of what is gathered.
scattergather:
    lin=scattered(workflow, run, "lin"),
    # Where the units of a fold take minutes, it is divided even if folds fill the cores.
    lin_large=scattered(workflow, run, "lin_large", least=6),


# The global Ranking SVM, its lambda chosen among as many as the methods have settings.
for _name, _folds in run.by_folds("train_lin_single", run.datasets_of(LIN)).items():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
        output:
            models=_folds.each("results/{dataset}/{fold}/models/lin-singles.parquet"),
            choices=_folds.each("results/{dataset}/{fold}/choices/lin-ranksvm.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        # The longest jobs wait for it.
        priority: 11
        resources:
            mem_mb=memory(800, 4.5),
            runtime=minutes(30, 3),
        params:
            **run.training,
            grid=settings.lin.grid(),
            seed=settings.seed,
        script:
            "../../scripts/lin2011/train_lin_single.py"


rule train_lin:
    """One shard of the clusters of a fold and their models, for every number of clusters and lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        singles="results/{dataset}/{fold}/models/lin-singles.parquet",
    output:
        clusters=temp(
            "results/{dataset}/{fold}/lin/shards/{scatteritem}.clusters.parquet"
        ),
        models=temp("results/{dataset}/{fold}/lin/shards/{scatteritem}.models.parquet"),
    wildcard_constraints:
        dataset=LIN_DATASETS,
    priority: 10
    resources:
        mem_mb=memory(700, 8.5),
        runtime=minutes(60, LIN_MINUTES),
    params:
        **run.training,
        lambdas=settings.lin.lambdas,
        readings=settings.lin.readings(),
        plan={
            "ms": settings.lin.ms,
            "seeds": LIN_SEEDS,
            "base": settings.seed,
            "random": settings.lin.random,
            "variants": settings.lin.variants,
            "starts": settings.training.starts,
        },
    script:
        "../../scripts/lin2011/train_lin.py"


rule score_lin:
    """Naive, SelectRanker, Transform, the oracles and the controls: settings chosen on validation, measured on test queries."""
    input:
        **{
            name: files.shards(
                gather,
                "lin",
                f"results/{{dataset}}/{{fold}}/lin/shards/{{scatteritem}}.{name}.parquet",
            )
            for name in ("clusters", "models")
        },
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        singles="results/{dataset}/{fold}/models/lin-singles.parquet",
        choices="results/{dataset}/{fold}/choices/lin-ranksvm.parquet",
    output:
        **scores_and_rankers(run.methods_run(LIN)),
        choices="results/{dataset}/{fold}/choices/lin.parquet",
        seeds="results/{dataset}/{fold}/lin/seeds.parquet",
        curve="results/{dataset}/{fold}/lin/curve.parquet",
        ranked="results/{dataset}/{fold}/lin/ranked.parquet",
        controls="results/{dataset}/{fold}/lin/controls.parquet",
        summary="results/{dataset}/{fold}/lin/clusters.parquet",
        variants="results/{dataset}/{fold}/lin/variants.parquet",
    wildcard_constraints:
        dataset=LIN_DATASETS,
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(60, 1),
    params:
        scale=settings.training.scale,
        grid=settings.lin.grid(),
        readings=settings.lin.readings(),
        measures=LIN_MEASURES,
        ranked=settings.lin.ranked,
        variants=settings.lin.variants,
        starts=settings.training.starts,
        seed=settings.seed,
    script:
        "../../scripts/lin2011/score_lin.py"


use rule measure_methods as measure_lin_baselines with:
    input:
        judged="results/{dataset}/judged.parquet",
        scores=files.scores(run.baselines_of(LIN)),
        refits=files.refits(run.baselines_of(LIN)),
    output:
        "results/{dataset}/lin/baselines.parquet",
    wildcard_constraints:
        dataset=LIN_DATASETS,
    params:
        measures=LIN_MEASURES,
        folds=run.folds,
        methods=run.baselines_of(LIN),
        refitted=files.refitted(run.baselines_of(LIN)),
