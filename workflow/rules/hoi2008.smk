# Hoi and Jin 2008: SER and SSER with their controls, ensembles of methods, and the learning curve. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet, {fold}/served/{method}.parquet
# writes: results/{dataset}/{fold}/hoi/weights.parquet         weights of every method, query and gamma, with their certificates
#         results/{dataset}/{fold}/hoi/sweep.parquet           measures for every gamma
#         results/{dataset}/{fold}/hoi/curve.parquet           measures for every number of training queries
#         results/{dataset}/{fold}/choices/hoi.parquet         the settings tried, and which was chosen
#         results/{dataset}/{fold}/scores/{method}.parquet     with the settings that validation chose
#         results/{dataset}/{fold}/served/{method}.parquet     the methods for `qdrank rank`

from qdrank.studies.hoi2008.methods import ensembles, stacked

HOI = STUDIES["hoi2008"]
HOI_SOLVED = settings.hoi.solved()
HOI_FOLD = {
    "scale": settings.hoi.scale,
    "measure": settings.learners.measure,
    "seed": settings.seed,
    "hoi": HOI_SOLVED,
}


# A shard is a range of the validation and test queries; the number of shards changes no bit of what is gathered.
scattergather:
    hoi=scattered(workflow, run, "hoi"),


rule solve_hoi:
    """The programs of one of several shards of the queries of a fold, through every gamma."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        temp("results/{dataset}/{fold}/hoi/weights/{scatteritem}.parquet"),
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HOI)),
    resources:
        mem_mb=memory(800, 3.5),
        runtime=minutes(60, 0.5),
    params:
        **HOI_FOLD,
    script:
        "../../scripts/hoi2008/solve_hoi.py"


rule score_hoi:
    """All weights of a fold in one table; every gamma measured, one chosen, and the scores of the test documents.

    A fold that is not divided is solved here, too.
    """
    input:
        judged="results/{dataset}/judged.parquet",
        shards=several(
            gather.hoi(
                "results/{{dataset}}/{{fold}}/hoi/weights/{scatteritem}.parquet"
            )
        ),
    output:
        **scores_and_rankers(ensembles()),
        weights="results/{dataset}/{fold}/hoi/weights.parquet",
        sweep="results/{dataset}/{fold}/hoi/sweep.parquet",
        choices="results/{dataset}/{fold}/choices/hoi.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HOI)),
    resources:
        mem_mb=memory(800, 3.5),
        runtime=minutes(60, 0.5),
    params:
        **HOI_FOLD,
    script:
        "../../scripts/hoi2008/score_hoi.py"


# SER, SSER, Ranking SVM and ListNet on random subsets of the training queries.
for _name, _folds in run.by_folds("learn_hoi_curve", run.datasets_of(HOI)).items():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
        output:
            _folds.each("results/{dataset}/{fold}/hoi/curve.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        resources:
            mem_mb=memory(800, 5.5),
            runtime=minutes(60, 2),
        params:
            **HOI_FOLD,
            sizes=settings.hoi.sizes,
            repeats=settings.hoi.repeats,
        script:
            "../../scripts/hoi2008/learn_hoi_curve.py"


rule stack_hoi:
    """Ensembles whose rankers are methods: SER, SSER and BordaCount, learned on the validation queries."""
    input:
        judged="results/{dataset}/judged.parquet",
        rankers=lambda wc: expand(
            "results/{dataset}/{fold}/served/{method}.parquet",
            dataset=wc.dataset,
            fold=wc.fold,
            method=settings.hoi.methods,
        ),
    output:
        **scores_and_rankers(["ser-methods", "sser-methods", "borda-methods"]),
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HOI) if stacked(settings.hoi) else []),
    resources:
        mem_mb=memory(800, 5.5),
        runtime=minutes(30, 0.2),
    params:
        scale=lambda wc: run.learner_scale(wc.dataset),
        hoi=HOI_SOLVED,
        # Looked up when the stored rankers are read.
        learners=[CLASSIC[name].learner for name in settings.hoi.methods],
    script:
        "../../scripts/hoi2008/stack_hoi.py"
