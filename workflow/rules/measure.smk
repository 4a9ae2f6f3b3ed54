# Measures: every measure of every method, for every test query.
#
# reads:  results/{dataset}/judged.parquet, results/{dataset}/{fold}/scores/{method}.parquet
#         {fold}/refits/{method}.parquet of methods that are fitted several times
# writes: results/{dataset}/measures.parquet      one row per test query, method and fit, one column per measure
#         results/{dataset}/tables/methods.*      all methods, best first


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
        mem_mb=memory(600, 6),
        runtime=minutes(30, 0.05),
    params:
        measures=run.measures,
        folds=run.folds,
        methods=lambda wc: run.methods_of(wc.dataset),
        refitted=files.refitted(lambda wc: run.methods_of(wc.dataset)),
    script:
        "../../scripts/measure_methods.py"


rule tabulate_methods:
    """All methods of a data set by MAP and NDCG@10, with intervals."""
    input:
        measures="results/{dataset}/measures.parquet",
    output:
        **table_outputs("", "methods", "Overview", "all methods, best first"),
    resources:
        mem_mb=memory(600, 6),
        runtime=minutes(30, 0.05),
    params:
        title=run.title,
        labels=lambda wc: {
            name: labels_and_colours()[0][name] for name in run.methods_of(wc.dataset)
        },
        convention=lambda wc: run.learner_convention(wc.dataset),
        interval=run.interval,
    script:
        "../../scripts/tabulate_methods.py"
