# Queries: points in the query space, and the k-NN graph between them.
#
# reads:  results/{dataset}/judged.parquet, topics.parquet, columns.parquet
# writes: results/{dataset}/{fold}/queries.parquet       query vectors, role, type where known
#         results/{dataset}/{fold}/scale.parquet         what standardised them, fitted on the training queries
#         results/{dataset}/{fold}/neighbours.parquet    for each query its nearest training queries, nearest first
#         results/{dataset}/{fold}/metric.parquet        what the metric learned from the training queries


rule describe_queries:
    """Query vectors of a fold: features pooled over each query's top documents, scaled on the training queries."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
    output:
        queries="results/{dataset}/{fold}/queries.parquet",
        scale="results/{dataset}/{fold}/scale.parquet",
    resources:
        mem_mb=memory(600, 8),
        runtime=minutes(30, 0.05),
    params:
        options=run.query_options,
    script:
        "../../scripts/describe_queries.py"


NEIGHBOURS_FROM = {"queries": "results/{dataset}/{fold}/queries.parquet"}
if settings.neighbours.metric == "learned":  # from what makes documents better
    NEIGHBOURS_FROM["judged"] = "results/{dataset}/judged.parquet"


rule find_neighbours:
    """Nearest training queries of every query of a fold."""
    input:
        **NEIGHBOURS_FROM,
    output:
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        metric="results/{dataset}/{fold}/metric.parquet",
    # The longest jobs wait for it.
    priority: 11
    resources:
        # The lists, of every query to every training query, are what is large.
        mem_mb=memory(500, 150),
        runtime=minutes(30, 0.5),
    params:
        options=settings.neighbours.model_dump(),
        used=run.neighbours_used(),
    script:
        "../../scripts/find_neighbours.py"
