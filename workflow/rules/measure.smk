# Measures: every measure of every method, for every test query.
#
# reads:  results/{dataset}/judged.parquet, results/{dataset}/{fold}/scores/{method}.parquet
#         {fold}/refits/{method}.parquet of methods that are fitted several times
# writes: results/{dataset}/measures.parquet      one row per test query, method and fit, one column per measure
#         results/{dataset}/tables/methods.*      all methods, best first
#         results/{dataset}/first-stages.parquet  the same measures of first stages and one learned model (target `first_stages`)
#         results/first-stages.*                  these on all text sets


METHOD_LABELS, METHOD_COLOURS = labels_and_colours(run)


rule measure_methods:
    """Join scores and grades on query and document, and measure."""
    input:
        judged="results/{dataset}/judged.parquet",
        scores=lambda wc: expand(
            "results/{dataset}/{fold}/scores/{method}.parquet",
            dataset=wc.dataset,
            fold=planned.datasets[wc.dataset].folds,
            method=run.methods_of(wc.dataset),
        ),
        refits=files.refits(lambda wc: run.methods_of(wc.dataset)),
    output:
        "results/{dataset}/measures.parquet",
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30, 0.05),
    params:
        **run.measured(lambda wc: run.methods_of(wc.dataset)),
        call="qdrank.evaluation.measuring:write_measures",
        measures=run.measures,
    script:
        "../../scripts/run_step.py"


rule tabulate_methods:
    """All methods of a data set by MAP and NDCG@10, with intervals."""
    input:
        measures="results/{dataset}/measures.parquet",
    output:
        **table_outputs("methods", "Overview", "all methods, best first"),
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30, 0.05),
    params:
        call="qdrank.figures.methods:tabulate_methods",
        title=run.title,
        labels=lambda wc: {
            name: METHOD_LABELS[name] for name in run.methods_of(wc.dataset)
        },
        convention=run.ndcg_convention,
        interval=run.interval,
    script:
        "../../scripts/run_step.py"


use rule measure_methods as measure_first_stages with:
    input:
        judged="results/{dataset}/judged.parquet",
        scores=files.scores(lambda _: run.first_stages_and_one_model),
        refits=[],
    output:
        "results/{dataset}/first-stages.parquet",
    wildcard_constraints:
        dataset=names_pattern(planned.of_kind("text")),
    params:
        call="qdrank.evaluation.measuring:write_measures",
        measures=["ap", f"ndcg@10/{run.ndcg_convention}"],
        folds=run.folds,
        methods=run.first_stages_and_one_model,
        refitted=[],


rule tabulate_first_stages:
    """First stages of all text sets beside one learned model, with intervals."""
    input:
        measures=filled(
            "results/{name}/first-stages.parquet", name=planned.of_kind("text")
        ),
    output:
        **{
            form: f"results/first-stages.{form}"
            for form in ("parquet", "csv", "md", "tex", "html")
        },
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30),
    params:
        call="qdrank.figures.methods:tabulate_first_stages",
        titles=[planned.datasets[name].title for name in planned.of_kind("text")],
        labels={name: METHOD_LABELS[name] for name in run.first_stages_and_one_model},
        convention=run.ndcg_convention,
        depth=settings.text.candidates,
        interval=run.interval,
    script:
        "../../scripts/run_step.py"


rule first_stages:
    """Target: BM25 as given and tuned, RM3 and one Ranking SVM on every text set of the run."""
    input:
        rules.tabulate_first_stages.output if planned.of_kind("text") else [],
