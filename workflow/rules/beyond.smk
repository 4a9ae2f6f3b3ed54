# When query-dependent ranking helps: rankers with their controls, and retrieval with past queries. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet, {fold}/queries.parquet; for text also the collection (a simulated web is drawn again)
# writes: results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/choices/beyond.parquet       the settings tried, and which was chosen
#         results/{dataset}/{fold}/beyond/controls.parquet      measures of the controls, and without near-duplicates
#         results/{dataset}/{fold}/beyond/*.parquet             checks, recurrence of documents
#         results/{dataset}/{fold}/beyond/retrieval/*.parquet   what is searched: what past queries add to retrieval, by form of the judgments; learners
#         results/{dataset}/{fold}/served/{method}.parquet      rankers for `qdrank rank`

from qdrank.studies.beyond.retrieved import (
    JOBS as BEYOND_JOBS,
    MEASURES as BEYOND_MEASURES,
    settled_choices,
)

BEYOND = STUDIES["beyond"]
SEARCHED = run.datasets_of(BEYOND)
BEYOND_OPTIONS = {
    **settings.beyond.solved(),
    "rounds": settings.training.trees,
    "tol": settings.training.tol,
    "seed": settings.seed,
}


rule fit_beyond:
    """All rankers and controls of a fold, tuned on validation, with their scores of the test documents."""
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
        collection=files.collection_of_text,
    output:
        **scores_and_rankers(run.methods_run(BEYOND)),
        choices="results/{dataset}/{fold}/choices/beyond.parquet",
        controls="results/{dataset}/{fold}/beyond/controls.parquet",
        checks="results/{dataset}/{fold}/beyond/checks.parquet",
        recurrence="results/{dataset}/{fold}/beyond/recurrence.parquet",
    wildcard_constraints:
        dataset=names_pattern(SEARCHED),
    resources:
        mem_mb=memory(1000, 15),
        runtime=minutes(120, 2),
    params:
        scale=settings.training.scale,
        queries=run.query_options,
        refits=settings.refits,
        source=lambda wc: run.text_source(wc.dataset),
        text=settings.text.model_dump(),
        beyond=BEYOND_OPTIONS,
        methods=run.methods_run(BEYOND),
    script:
        "../../scripts/beyond/fit_beyond.py"


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
