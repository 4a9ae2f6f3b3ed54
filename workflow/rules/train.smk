# Training: models of all queries, of classes of queries, and of the neighbourhood of every query, in shards.
#
# reads:  results/{dataset}/judged.parquet, topics.parquet, {fold}/queries.parquet, {fold}/neighbours.parquet
# writes: results/{dataset}/{fold}/models/global.parquet        Single, its variants and the class models, every lambda
#         results/{dataset}/{fold}/models/local.parquet         local models of every query, k and lambda
#         results/{dataset}/{fold}/models/lambdamart.parquet    boosted trees, as text
#         results/{dataset}/{fold}/classes.parquet              class of every query, known and guessed


# A shard is a set of whole blocks of models; the number of shards changes no bit of what is gathered.
scattergather:
    local=settings.training.shards,


TRAINING = settings.training.model_dump(include={"scale", "tol"})
GENG = settings.geng.model_dump()
LOCAL = {
    key: GENG[key]
    for key in ("ks", "lam", "choose", "k", "candidates", "lambdas", "controls")
}
# Minutes a shard may take for each MB of documents and neighbour lists: several times what has been measured.
LOCAL_MINUTES = (
    0.02
    * (len(GENG["ks"]) + len(GENG["candidates"]) * len(GENG["lambdas"]))
    / settings.training.shards
)
# What `score_geng` ranks with; LambdaMART ranks by itself.
GENG_SCORED = ["single", "single-equal", "qc", "knn-online", "knn-offline1"]
GENG_SCORED += ["knn-offline2", *(f"knn-{name}" for name in settings.geng.controls)]
GENG_METHODS = [*GENG_SCORED, "lambdamart"]
GENG_DATASETS = [
    name
    for name in study.datasets
    if settings.geng.datasets is None or name in settings.geng.datasets
]


rule train_global:
    """Models of all training queries and of each class of queries, for every lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        topics="results/{dataset}/topics.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
    output:
        models="results/{dataset}/{fold}/models/global.parquet",
        classes="results/{dataset}/{fold}/classes.parquet",
    log:
        "logs/train_global/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/train_global/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(800, 12),
        runtime=minutes(60, 0.5),
    params:
        **TRAINING,
        lambdas=sorted({*settings.training.lambdas, settings.geng.lam}, reverse=True),
        n_classes=settings.geng.classes,
        classify_from=settings.geng.classify_from,
        seed=settings.seed,
        code=code("train_global"),
    script:
        "../../scripts/train_global.py"


rule train_local:
    """One shard of the local models of a fold, through every k and lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
    output:
        temp("results/{dataset}/{fold}/models/local/{scatteritem}.parquet"),
    log:
        "logs/train_local/{dataset}/{fold}/{scatteritem}.log",
    benchmark:
        "benchmarks/train_local/{dataset}/{fold}/{scatteritem}.tsv"
    # The longest jobs first: nothing of the study can begin without them.
    priority: 10
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(500, 8),
        runtime=minutes(60, LOCAL_MINUTES),
    params:
        **TRAINING,
        geng=LOCAL,
        block=settings.training.block,
        seed=settings.seed,
        code=code("train_local"),
    script:
        "../../scripts/train_local.py"


rule gather_local:
    """All local models of a fold in one table, in an order that knows nothing of shards."""
    input:
        queries="results/{dataset}/{fold}/queries.parquet",
        shards=gather.local(
            "results/{{dataset}}/{{fold}}/models/local/{scatteritem}.parquet"
        ),
    output:
        "results/{dataset}/{fold}/models/local.parquet",
    log:
        "logs/gather_local/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/gather_local/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(500, 6),
        runtime=minutes(30, 0.02),
    params:
        code=code("gather_local"),
    script:
        "../../scripts/gather_local.py"


rule train_lambdamart:
    """LambdaMART, its number of trees chosen on validation."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        models="results/{dataset}/{fold}/models/lambdamart.parquet",
        scores="results/{dataset}/{fold}/scores/lambdamart.parquet",
    log:
        "logs/train_lambdamart/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/train_lambdamart/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000, 20),
        runtime=minutes(60, 0.5),
    params:
        scale=settings.training.scale,
        learner={
            "rounds": settings.training.trees,
            "learning_rate": 0.1,
            "patience": 30,
            "measure": settings.training.measure,
            "seed": settings.seed,
        },
        code=code("train_lambdamart"),
    script:
        "../../scripts/train_lambdamart.py"
