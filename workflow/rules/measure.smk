# Measures: every measure of every method, for every test query.
#
# reads:  results/{dataset}/judged.parquet, results/{dataset}/{fold}/scores/{method}.parquet
# writes: results/{dataset}/measures.parquet    one row per test query and method, one column per measure


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
    output:
        "results/{dataset}/measures.parquet",
    resources:
        mem_mb=memory(600, 6),
        runtime=minutes(30, 0.05),
    params:
        measures=run.measures,
        folds=run.folds,
        methods=lambda wc: run.methods_of(wc.dataset),
    script:
        "../../scripts/measure_methods.py"
