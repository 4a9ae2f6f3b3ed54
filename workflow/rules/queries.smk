# Queries: points in the query space, and the k-NN graph between them.
#
# reads:  results/{dataset}/judged.parquet, topics.parquet, columns.parquet
# writes: results/{dataset}/{fold}/queries.parquet       query vectors, role, type where known
#         results/{dataset}/{fold}/scale.parquet         what standardised them, fitted on the training queries
#         results/{dataset}/{fold}/neighbours.parquet    for each query its nearest training queries, nearest first
#         results/{dataset}/{fold}/metric.parquet        what the metric learned from the training queries


for _name, _folds in run.by_folds("describe_queries").items():

    rule:
        """Query vectors of a fold: features pooled over each query's top documents, scaled on the training queries."""
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
            columns="results/{dataset}/columns.parquet",
            topics="results/{dataset}/topics.parquet",
        output:
            queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
            scale=_folds.each("results/{dataset}/{fold}/scale.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        resources:
            mem_mb=memory(600, 1.2),
            runtime=minutes(30, 0.05),
        params:
            call="qdrank.queries.recipe:write_queries",
            options=run.query_options,
        script:
            "../../scripts/run_step.py"


# A learned metric comes from what makes documents better.
NEIGHBOURS_FROM = (
    {"judged": "results/{dataset}/judged.parquet"}
    if settings.neighbours.metric == "learned"
    else {}
)


for _name, _folds in run.by_folds("find_neighbours").items():

    rule:
        """Nearest training queries of every query of a fold."""
        name:
            _name
        input:
            **NEIGHBOURS_FROM,
            queries=_folds.each("results/{dataset}/{fold}/queries.parquet"),
        output:
            neighbours=_folds.each("results/{dataset}/{fold}/neighbours.parquet"),
            metric=_folds.each("results/{dataset}/{fold}/metric.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        # The longest jobs wait for it.
        priority: 11
        resources:
            # The lists are what is large: of every query to a share of the training queries, or to a number of them.
            mem_mb=memory(500, 15 + 150 * run.neighbours_used()[0]),
            runtime=minutes(30, 0.5),
        params:
            call="qdrank.queries.graph:write_neighbours",
            options=settings.neighbours.model_dump(),
            used=run.neighbours_used(),
        script:
            "../../scripts/run_step.py"
