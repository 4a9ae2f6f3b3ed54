# Difficulty: every measure of every method of every study, by the number of relevant documents of a query.
#
# reads:  results/{dataset}/measures.parquet, judged.parquet
# writes: results/{dataset}/tables/difficulty.*      means by class, differences, intervals, tests
#         results/{dataset}/figures/difficulty.*     differences by class


rule break_down:
    """Every method by the difficulty of the queries."""
    input:
        judged="results/{dataset}/judged.parquet",
        measures="results/{dataset}/measures.parquet",
    output:
        **table_outputs("difficulty", "Difficulty", "table"),
        **{
            f"figure_{form}": path
            for form, path in files.of_figure("difficulty").items()
        },
        figure_svg=reported(
            "difficulty-figure",
            "results/{dataset}/figures/difficulty.svg",
            "Difficulty",
            "figure",
        ),
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15),
    params:
        call="qdrank.figures.difficulty:write_breakdown",
        title=run.title,
        classes=settings.difficulty.classes,
        measures=settings.difficulty.measures,
        against=settings.difficulty.against,
        labels=METHOD_LABELS,
        colours=METHOD_COLOURS,
        interval=run.interval,
        formats=sorted({*settings.figures.formats, "svg"}),
        dpi=settings.figures.dpi,
    script:
        "../../scripts/run_step.py"


rule difficulty:
    """Target: measures of every method by the difficulty of the queries, for every data set."""
    input:
        all_forms_of_table("difficulty", planned.datasets),
        files.all_forms_of_figure("difficulty", planned.datasets),
