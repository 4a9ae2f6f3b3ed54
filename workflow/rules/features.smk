# Single features: how well each feature ranks by itself. The first look at any data set, and the check of the measures.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet
# writes: results/{dataset}/features.parquet               one row per test query and feature, one column per measure
#         results/{dataset}/tables/data-summary.*          what the data set holds, by part
#         results/{dataset}/tables/single-features.*       means of the folds
#         results/{dataset}/tables/single-features-folds.* the same by fold
#         results/{dataset}/figures/single-features.*      the best features with intervals


rule measure_features:
    """Measure every feature as a ranker."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        "results/{dataset}/features.parquet",
    resources:
        mem_mb=memory(800, 3.5),
        runtime=minutes(30, 0.2),
    params:
        call="qdrank.evaluation.measuring:write_feature_measures",
        measures=list(CONVENTIONS[settings.evaluation.conventions[0]]),
        folds=run.folds,
    script:
        "../../scripts/run_step.py"


rule summarise_data:
    """Queries, documents, grades and pairs of a data set, by part."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        **table_outputs("data-summary", "Data", "summary"),
    resources:
        mem_mb=memory(500, 2),
        runtime=minutes(15, 0.05),
    params:
        call="qdrank.figures.data:write_summary",
        title=run.title,
        published=lambda wc: published_counts(planned.datasets[wc.dataset]),
    script:
        "../../scripts/run_step.py"


rule tabulate_features:
    """Tables of the single features: means of the folds, and by fold."""
    input:
        measures="results/{dataset}/features.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        **table_outputs(
            "single-features", "Single features", "table, mean of folds", "means_"
        ),
        **table_outputs(
            "single-features-folds", "Single features", "table, by fold", "folds_"
        ),
    resources:
        mem_mb=memory(600, 3.5),
        runtime=minutes(15),
    params:
        call="qdrank.figures.features:tabulate_features",
        title=run.title,
    script:
        "../../scripts/run_step.py"


rule draw_features:
    """The best single features, with intervals."""
    input:
        measures="results/{dataset}/features.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        **files.figure_outputs("single-features", "Single features", "figure"),
    resources:
        mem_mb=memory(700, 3.5),
        runtime=minutes(15),
    params:
        call="qdrank.figures.features:draw_features",
        title=run.title,
        interval=run.interval,
        dpi=settings.figures.dpi,
    script:
        "../../scripts/run_step.py"


rule single_features:
    """Target: what every data set holds, and tables and figure of its single features."""
    input:
        all_forms_of_table("data-summary", planned.datasets),
        all_forms_of_table("data-notes", planned.of_kind("letor")),
        all_forms_of_table("text-notes", planned.of_kind("text")),
        all_forms_of_table("single-features", planned.datasets),
        all_forms_of_table("single-features-folds", planned.datasets),
        files.all_forms_of_figure("single-features", planned.datasets),
