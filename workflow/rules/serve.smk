# Serving: what `qdrank rank` needs to score queries that no study has seen, one small file a fold.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet, topics.parquet,
#         results/{dataset}/{fold}/queries.parquet, neighbours.parquet, models/*.parquet, choices/geng.parquet
# writes: results/{dataset}/{fold}/rankers.parquet    Single, Offline-1 and Offline-2 with the chosen settings


rule pack_rankers:
    """How queries were seen, their neighbours and the chosen models, packed for use without the data."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        whole="results/{dataset}/{fold}/models/global.parquet",
        local="results/{dataset}/{fold}/models/local.parquet",
        choices="results/{dataset}/{fold}/choices/geng.parquet",
    output:
        "results/{dataset}/{fold}/rankers.parquet",
    log:
        "logs/pack_rankers/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/pack_rankers/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(600, 8),
        runtime=minutes(15),
    params:
        seen={
            "queries": settings.queries.model_dump(),
            "metric": settings.neighbours.metric,
            "scale": settings.training.scale,
            "choice": settings.geng.offline1,
        },
        code=code("pack_rankers", METRICS.module(settings.neighbours.metric)),
    script:
        "../../scripts/pack_rankers.py"


rule rankers:
    """Target: the rankers of every fold."""
    input:
        [
            f"results/{name}/{fold}/rankers.parquet"
            for name in GENG_DATASETS
            for fold in study.datasets[name].folds
        ],
