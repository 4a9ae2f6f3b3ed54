# When query-dependent ranking helps: rankers with their controls, and retrieval with past queries. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet, {fold}/queries.parquet; for text also the collection (a simulated web is drawn again)
# writes: results/{dataset}/{fold}/beyond/{job}/*.parquet       choices and controls of one step of the ladder, or of all
#         results/{dataset}/{fold}/beyond/control/*.parquet     controls that one job tunes and another fits
#         results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/refits/{method}.parquet      the same scores from further fits of methods with trees
#         results/{dataset}/{fold}/choices/beyond.parquet       the settings tried, and which was chosen
#         results/{dataset}/{fold}/beyond/controls.parquet      measures of the controls, and without near-duplicates
#         results/{dataset}/{fold}/beyond/*.parquet             checks, recurrence of documents
#         results/{dataset}/{fold}/beyond/retrieval/*.parquet   what is searched: what past queries add to retrieval, by form of the judgments; learners
#         results/{dataset}/{fold}/served/{method}.parquet      rankers for `qdrank rank`

from qdrank.studies.beyond.methods import (
    CHOSEN as BEYOND_CHOSEN,
    CONTROLS as BEYOND_CONTROLS,
)
from qdrank.studies.beyond.retrieved import (
    JOBS as BEYOND_JOBS,
    MEASURES as BEYOND_MEASURES,
    settled_choices,
)
from qdrank.studies.beyond.steps import (
    CHECKING,
    STEPS as BEYOND_STEPS,
    control_files,
    controls_stored,
    controls_taken,
    methods_needed,
    methods_refitted,
    methods_tuned,
    step_tables,
)

BEYOND = STUDIES["beyond"]
SEARCHED = run.datasets_of(BEYOND)
BEYOND_OPTIONS = {
    **settings.beyond.solved(),
    "rounds": settings.training.trees,
    "tol": settings.training.tol,
    "seed": settings.seed,
}


BEYOND_FITTED = run.by_size("fit_beyond", BEYOND_STEPS, SEARCHED)

# Rankers and controls of a fold, all or of one step, tuned on validation, with their scores of the test documents.
for _name, (_steps, _datasets) in BEYOND_FITTED.items():

    rule:
        name:
            _name
        input:
            **query_files("results/{dataset}", "{fold}"),
            **{
                method: f"results/{{dataset}}/{{fold}}/served/{method}.parquet"
                for method in methods_needed(_steps)
            },
            **control_files(controls_taken(_steps)),
            judged="results/{dataset}/judged.parquet",
            collection=files.collection_of_text if CHECKING in _steps else [],
        output:
            **scores_and_rankers(methods_tuned(_steps)),
            **further_fits(run.refitted(methods_refitted(_steps))),
            **{
                name: temp(path)
                for name, path in control_files(controls_stored(_steps)).items()
            },
            **{
                name: temp(
                    f"results/{{dataset}}/{{fold}}/beyond/{_name}/{name}.parquet"
                )
                for name in ("choices", "controls")
            },
            **{
                name: f"results/{{dataset}}/{{fold}}/beyond/{name}.parquet"
                for name in ("checks", "recurrence")
                if CHECKING in _steps
            },
        wildcard_constraints:
            dataset=names_pattern(_datasets),
        resources:
            mem_mb=memory(700, 14),
            runtime=minutes(120, 2),
        params:
            steps=_steps,
            scale=settings.training.scale,
            queries=run.query_options,
            refits=settings.refits,
            source=lambda wc: run.text_source(wc.dataset),
            text=settings.text.model_dump(),
            beyond=BEYOND_OPTIONS,
        script:
            "../../scripts/beyond/fit_beyond.py"


# The steps of a fold in one table each, and the ranker that validation chose.
for _name, _folds in run.by_folds("gather_beyond", SEARCHED).items():

    rule:
        name:
            _name
        input:
            **{
                name: step_tables(name, _folds.folds, BEYOND_FITTED)
                for name in ("choices", "controls")
            },
            **{
                name: _folds.each(path)
                for name, path in {
                    **scores_and_rankers(BEYOND_CONTROLS),
                    **further_fits(run.refitted(BEYOND_CONTROLS)),
                }.items()
            },
        output:
            **{
                name: _folds.each(path)
                for name, path in {
                    **scores_and_rankers([BEYOND_CHOSEN]),
                    **further_fits(run.refitted([BEYOND_CHOSEN])),
                }.items()
            },
            choices=_folds.each("results/{dataset}/{fold}/choices/beyond.parquet"),
            controls=_folds.each("results/{dataset}/{fold}/beyond/controls.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        resources:
            mem_mb=memory(600, 2),
            runtime=minutes(15),
        params:
            refits=settings.refits,
        script:
            "../../scripts/beyond/gather_beyond.py"


# Retrieval from a whole text collection with past queries, its baselines, or its controls, or learners, in one form of the judgments.
for _name, _folds in run.by_folds("retrieve_beyond", SEARCHED, grows=True).items():

    rule:
        name:
            _name
        input:
            collection=files.searched,
            chosen=settled_choices(_folds.folds),
        output:
            values=_folds.each(
                "results/{dataset}/{fold}/beyond/retrieval/{job}.parquet"
            ),
            choices=_folds.each(
                "results/{dataset}/{fold}/beyond/retrieval/{job}.choices.parquet"
            ),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
            job=names_pattern(BEYOND_JOBS),
        resources:
            mem_mb=memory(2500, 15),
            runtime=minutes(60, 1),
        params:
            source=lambda wc: run.searched(wc.dataset),
            text=lambda wc: run.searched_text(wc.dataset),
            retrieval=settings.beyond.retrieval(),
            beyond=BEYOND_OPTIONS,
            refits=settings.refits,
            measure=settings.learners.measure,
            measures=list(BEYOND_MEASURES),
        script:
            "../../scripts/beyond/retrieve_beyond.py"
