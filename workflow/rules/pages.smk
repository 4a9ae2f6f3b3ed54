# Pages: the page that a reader opens first, made of what all studies found.
#
# reads:  results/claims.parquet, the figures of every study, query vectors, k-NN graphs, measures of every study, tables of all methods
# writes: results/{dataset}/map.parquet    every query in the plane, with its words, neighbours and average precisions
#         results/index.html               the best methods, findings, figures, maps and claims, in one file that asks for nothing
#
# Of the seeds of a simulated world, the first is shown.


rule map_queries:
    """The queries of a data set in the plane, with what is known of each."""
    input:
        judged="results/{dataset}/judged.parquet",
        topics="results/{dataset}/topics.parquet",
        queries=files.each_fold("results/{dataset}/{fold}/queries.parquet"),
        neighbours=files.each_fold("results/{dataset}/{fold}/neighbours.parquet"),
        measures=lambda wc: [
            f"results/{wc.dataset}/{study.short}/measures.parquet"
            for study in ALL_STUDIES
            if wc.dataset in run.datasets_of(study)
        ],
    output:
        "results/{dataset}/map.parquet",
    resources:
        mem_mb=memory(600, 4.5),
        runtime=minutes(15, 0.05),
    params:
        call="qdrank.pages.queries:write_map",
    script:
        "../../scripts/run_step.py"


rule write_index:
    """The first page: findings, claims, figures and the maps of the queries."""
    input:
        claims="results/claims.parquet",
        maps=filled("results/{name}/map.parquet", name=representatives(run)),
        methods=filled(
            "results/{name}/tables/methods.parquet", name=representatives(run)
        ),
        summaries=filled(
            "results/{name}/tables/data-summary.parquet", name=representatives(run)
        ),
        notes=filled(
            "results/{name}/tables/text-notes.parquet", name=pictured_texts(run)
        ),
        figures=[f"results/{name}/figures/{id}.svg" for name, id in pictured(run)],
    output:
        "results/index.html",
    resources:
        mem_mb=memory(600, 7.5),
        runtime=minutes(15),
    params:
        call="qdrank.pages.page:write_index",
        run=described_run(run),
        datasets=representatives(run),
        texts=pictured_texts(run),
        figures=pictured(run),
        assets=asset_digest(SOURCE / "qdrank" / "pages" / "assets"),
    script:
        "../../scripts/run_step.py"
