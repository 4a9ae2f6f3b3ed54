# Studies: what every study declares (figures, tables, observations for its claims) becomes rules, targets and report entries.
#
# reads:  what the study names, see its folder in src/qdrank/studies
# writes: results/{dataset}/{study}/measures.parquet    measures of the study's methods alone
#         results/{dataset}/{study}/observations.parquet  values behind each claim
#         results/{dataset}/figures/{id}.*, results/{dataset}/tables/{id}.*
#         results/{dataset}/{fold}/refits/{method}.parquet       scores from further fits of methods that draw at random
#         results/{dataset}/{fold}/runs/{method}.run.gz          what each method ranked, as trec_eval reads it (target `runs`)
#         results/{dataset}/{fold}/runs/{method}.ir-metadata.yml how it was made
#         results/{dataset}/{fold}/runs/judgments.qrels.gz       the judgments of the test queries

for _study in filter(run.datasets_of, ALL_STUDIES):

    # A study waits for no method of another one.
    rule:
        name:
            f"measure_{_study.short}"
        input:
            judged="results/{dataset}/judged.parquet",
            scores=files.scores(run.measured_in(_study)),
            refits=files.refits(run.measured_in(_study)),
        output:
            f"results/{{dataset}}/{_study.short}/measures.parquet",
        wildcard_constraints:
            dataset=names_pattern(run.datasets_of(_study)),
        resources:
            mem_mb=memory(600, 2),
            runtime=minutes(30, 0.05),
        params:
            measures=study_measures(_study),
            folds=run.folds,
            methods=run.measured_in(_study),
            refitted=files.refitted(run.measured_in(_study)),
        script:
            "../../scripts/measure_methods.py"

    rule:
        name:
            f"claim_{_study.short}"
        input:
            **files.of_output(_study, _study.observations),
        output:
            **table_outputs(_study.observations.id, _study.paper, "claims"),
            observations=f"results/{{dataset}}/{_study.short}/observations.parquet",
        wildcard_constraints:
            dataset=names_pattern(run.datasets_of(_study)),
        resources:
            mem_mb=memory(700, 7.5),
            runtime=minutes(15),
        params:
            **files.shown(_study.observations),
            claims=_study.claims,
            budget=run.budget(_study),
            world=run.world_of,
        script:
            "../../scripts/gather_observations.py"

    for _figures in _study.drawn_together:

        rule:
            name:
                f"draw_{rule_name(_figures[0].id)}"
            input:
                **files.of_output(_study, _figures[0]),
            output:
                **files.reported_figures(_study, _figures),
            wildcard_constraints:
                dataset=names_pattern(run.datasets_of(_study)),
            resources:
                mem_mb=memory(700, 7.5),
                runtime=minutes(15),
            params:
                **files.drawn(_figures),
                dpi=settings.figures.dpi,
            script:
                "../../scripts/draw_figures.py"

    for _output in _study.tables:

        rule:
            name:
                f"tabulate_{rule_name(_output.id)}"
            input:
                **files.of_output(_study, _output),
            output:
                **reported_tables(_study, _output),
            wildcard_constraints:
                dataset=names_pattern(run.datasets_of(_study)),
            # tables with intervals take longer than figures
            priority: 1
            resources:
                mem_mb=memory(800, 7.5),
                runtime=minutes(30, 0.5),
            params:
                **files.shown(_output),
                titles={id: _output.title(id) for id in _output.shows},
            script:
                "../../scripts/make_tables.py"


# Further fits of methods that draw at random, in one job for a study: a job for each would spend its time on starting.
for _job, _methods in run.redrawn.items():

    for _name, _folds in run.by_folds(f"refit_{_job}", grows=True).items():

        for _rule, _kinds in run.redrawn_in(_name, _methods, _folds).items():

            rule:
                name:
                    _rule
                input:
                    **{
                        method: _folds.each(
                            f"results/{{dataset}}/{{fold}}/served/{method}.parquet"
                        )
                        for method in _kinds
                    },
                    judged="results/{dataset}/judged.parquet",
                    topics="results/{dataset}/topics.parquet",
                output:
                    **{
                        method: _folds.each(
                            f"results/{{dataset}}/{{fold}}/refits/{method}.parquet"
                        )
                        for method in _kinds
                    },
                wildcard_constraints:
                    dataset=names_pattern(_folds.datasets),
                threads: run.redrawn_threads(_kinds)
                resources:
                    mem_mb=memory(650, 12),
                    runtime=minutes(60, 1),
                params:
                    kinds=_kinds,
                    # Looked up when the stored rankers are read and fitted.
                    metric=settings.neighbours.metric,
                    measures=[settings.training.measure, settings.learners.measure],
                    refits=settings.refits,
                    seed=settings.seed,
                script:
                    "../../scripts/refit_methods.py"


# Targets: each figure and table by its id, and each study by its name and its short name. What is about all studies, the
# first page among it, is part of `all`.
for _target, _files in files.study_targets().items():

    rule:
        name:
            _target
        input:
            _files,


rule rankers:
    """Target: every method of every study as a ranker for `qdrank rank`, and the configuration, for `qdrank features`."""
    input:
        "results/config.yaml",
        files.rankers(),


rule write_runs:
    """Runs of a fold, one of each method, in a folder: one job, since each would spend its time on starting."""
    input:
        judged="results/{dataset}/judged.parquet",
        scores=lambda wc: filled(
            f"results/{wc.dataset}/{wc.fold}/scores/{{method}}.parquet",
            method=run.methods_of(wc.dataset),
        ),
    output:
        # A folder, because its files depend on the data set: Snakemake compares every file that it looks for with every output.
        directory("results/{dataset}/{fold}/runs"),
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30, 0.1),
    params:
        dataset=lambda wc: wc.dataset,
        title=lambda wc: planned.datasets[wc.dataset].title,
        methods=lambda wc: run.methods_of(wc.dataset),
        measures=run.measures,
    script:
        "../../scripts/write_runs.py"


rule runs:
    """Target: every method of every data set as a run, with metadata and judgments, for trec_eval and its like."""
    input:
        files.each_dataset_and_fold(["results/{dataset}/{fold}/runs"]),
