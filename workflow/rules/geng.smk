# Geng 2008: ranking with the k nearest training queries, its baselines, controls, figures, tables and claims.
#
# reads:  results/{dataset}/judged.parquet, {fold}/queries.parquet, neighbours.parquet, models/*.parquet, classes.parquet
# writes: results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/choices/geng.parquet         the settings tried, and which was chosen
#         results/{dataset}/{fold}/geng/sweep.parquet           measures and change ratios for every k and lambda
#         results/{dataset}/{fold}/geng/bound.parquet           the stability bound beside what is observed


rule score_geng:
    """Scores of Single, QC, the KNN methods and their controls, for every setting and for the chosen one."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        classes="results/{dataset}/{fold}/classes.parquet",
        whole="results/{dataset}/{fold}/models/global.parquet",
        local="results/{dataset}/{fold}/models/local.parquet",
    output:
        **{
            method: f"results/{{dataset}}/{{fold}}/scores/{method}.parquet"
            for method in GENG_SCORED
        },
        choices="results/{dataset}/{fold}/choices/geng.parquet",
        sweep="results/{dataset}/{fold}/geng/sweep.parquet",
        bound="results/{dataset}/{fold}/geng/bound.parquet",
    log:
        "logs/score_geng/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/score_geng/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000, 8),
        runtime=minutes(60),
    params:
        scale=settings.training.scale,
        measure=settings.training.measure,
        geng={**LOCAL, "offline1": settings.geng.offline1},
        bound_queries=settings.geng.bound_queries,
        bound_pairs=settings.geng.bound_pairs,
        seed=settings.seed,
        code=code(
            "score_geng", *MEASURE_MODULES, measure_module(settings.training.measure)
        ),
    script:
        "../../scripts/score_geng.py"
