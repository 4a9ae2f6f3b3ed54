# The classic learners and aggregators: each tuned on validation, and their figures beside the published ones.
#
# reads:  results/{dataset}/judged.parquet (ranks.parquet for data to aggregate), {fold}/queries.parquet,
#         resources/expected/{dataset}.yaml
# writes: results/{dataset}/{fold}/models/{method}.parquet     linear weights, pairs and gap of training
#         results/{dataset}/{fold}/choices/{method}.parquet    values tried, and which was chosen
#         results/{dataset}/{fold}/scores/{method}.parquet     scores of the test documents
#         results/{dataset}/{fold}/served/{method}.parquet     the method for `qdrank rank`
#         results/{dataset}/tables/learners.*                  all methods
#         results/{dataset}/tables/learners-tests.*            all methods against RankSVM
#         results/{dataset}/tables/published.*                 published, ours, difference, verdict

LEARNED_TOGETHER = run.learned_together


rule learn_method:
    """One method on one fold: tuned on validation, its model, its scores of the test documents."""
    input:
        unpack(files.of_learner),
    output:
        models="results/{dataset}/{fold}/models/{method}.parquet",
        choices="results/{dataset}/{fold}/choices/{method}.parquet",
        scores="results/{dataset}/{fold}/scores/{method}.parquet",
        served="results/{dataset}/{fold}/served/{method}.parquet",
    # On any data set: a study may ask for a method that `learners` leaves out there.
    wildcard_constraints:
        method=names_pattern(
            name for name in run.classic if name not in LEARNED_TOGETHER
        ),
    threads: run.learner_threads
    resources:
        mem_mb=memory(900, 2.5),
        runtime=minutes(120, 1),
    params:
        call="qdrank.rankers.learning:learn_method",
        learner=lambda wc: run.classic[wc.method].learner,
        grid=lambda wc: run.learner_grid(wc.method),
        ranks=lambda wc: run.classic[wc.method].aggregates,
        queries=lambda wc: run.vector_options(wc, run.classic[wc.method].query_vectors),
        scale=lambda wc: run.learner_scale(wc.dataset),
        measure=settings.learners.measure,
        seed=settings.seed,
        looked_up=run.own_code,
    script:
        "../../scripts/run_step.py"


# The quick methods: one job for all folds of a data set, which would each spend its time on starting.
for _name, _folds in run.by_folds("learn_folds").items() if LEARNED_TOGETHER else ():

    rule:
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
        output:
            **{
                kind: _folds.each(
                    f"results/{{dataset}}/{{fold}}/{kind}/{{method}}.parquet"
                )
                for kind in ("models", "choices", "scores", "served")
            },
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
            method=names_pattern(LEARNED_TOGETHER),
        resources:
            mem_mb=memory(900, 11),
            runtime=minutes(120, 3),
        params:
            call="qdrank.rankers.learning:learn_method",
            learner=lambda wc: run.classic[wc.method].learner,
            grid=lambda wc: run.learner_grid(wc.method),
            ranks=False,
            queries=None,
            scale=lambda wc: run.learner_scale(wc.dataset),
            measure=settings.learners.measure,
            seed=settings.seed,
        script:
            "../../scripts/run_step.py"


rule tabulate_learners:
    """All methods with their settings, and tests against RankSVM."""
    input:
        measures="results/{dataset}/measures.parquet",
        choices=lambda wc: expand(
            "results/{dataset}/{fold}/choices/{method}.parquet",
            dataset=wc.dataset,
            fold=planned.datasets[wc.dataset].folds,
            method=run.learners_of(wc.dataset),
        ),
    output:
        **table_outputs("learners", "Learners", "all methods", "means_"),
        **table_outputs("learners-tests", "Learners", "tests", "tests_"),
    wildcard_constraints:
        dataset=names_pattern(run.learner_datasets),
    resources:
        mem_mb=memory(600, 7.5),
        runtime=minutes(15),
    params:
        call="qdrank.figures.methods:tabulate_learners",
        title=run.title,
        methods=lambda wc: run.learners_of(wc.dataset),
        convention=lambda wc: run.learner_convention(wc.dataset),
        interval=run.interval,
    script:
        "../../scripts/run_step.py"


rule compare_published:
    """Published figures beside ours, each with a verdict; a sample of the data is never compared."""
    input:
        judged="results/{dataset}/judged.parquet",
        measures="results/{dataset}/measures.parquet",
        expected=local(str(PROJECT / "resources/expected/{dataset}.yaml")),
    output:
        **table_outputs("published", "Learners", "published against ours"),
    wildcard_constraints:
        dataset=names_pattern(run.published_datasets),
    resources:
        mem_mb=memory(600, 3.5),
        runtime=minutes(15),
    params:
        call="qdrank.figures.methods:write_published",
        title=run.title,
    script:
        "../../scripts/run_step.py"


rule published:
    """Published figures beside ours, for every data set that has any."""
    input:
        all_forms_of_table("published", run.published_datasets),


rule learners:
    """Tables and models of the classic learners and aggregators."""
    input:
        all_forms_of_table("learners", run.learner_datasets),
        all_forms_of_table("learners-tests", run.learner_datasets),
        [
            f"results/{name}/{fold}/models/{method}.parquet"
            for name in run.learner_datasets
            for fold in planned.datasets[name].folds
            for method in run.learners_of(name)
        ],
        rules.published.input,
