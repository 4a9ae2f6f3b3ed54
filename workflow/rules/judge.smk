# Judged pairs: one table of documents with grades and features for every data set, wherever it comes from.
#
# reads:  the data set's files (fetched, or the user's own); nothing for simulated data
# writes: results/{dataset}/judged.parquet     query, document, grade, part, features
#         results/{dataset}/columns.parquet    names of the features, and which is the reference
#         results/{dataset}/topics.parquet     queries: words, type and columns of their own, where known
#         results/{dataset}/tables/data-notes.*, text-notes.*    what was noticed in the data
#         results/{dataset}/ranks.parquet      for data to aggregate: the rank that each system gave


rule import_features:
    """Read LETOR text, or runs, into judged pairs; a bad row stops here, named."""
    input:
        files.features,
    output:
        **table_outputs("data-notes", "Data", "notes"),
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
    wildcard_constraints:
        dataset=names_pattern(planned.of_kind("letor")),
    threads: reading_threads
    resources:
        mem_mb=memory(1200, 1),
        runtime=minutes(60, 0.05),
    params:
        call="qdrank.figures.data:import_dataset",
        files=lambda wc: dict(planned.datasets[wc.dataset].files),
        options=lambda wc: dict(planned.datasets[wc.dataset].options),
        title=run.title,
        seed=settings.seed,
    script:
        "../../scripts/run_step.py"


rule import_ranks:
    """Read rankings to be aggregated: the ranks, 1 the best, and features made of them."""
    input:
        files.features,
    output:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        ranks="results/{dataset}/ranks.parquet",
    wildcard_constraints:
        dataset=names_pattern(planned.of_kind("agg")),
    resources:
        mem_mb=memory(2000, 1),
        runtime=minutes(60, 0.05),
    params:
        call="qdrank.datasets.importing:import_ranks",
        max_label=lambda wc: planned.datasets[wc.dataset].options["max_label"],
        best=lambda wc: planned.datasets[wc.dataset].options["best"],
    script:
        "../../scripts/run_step.py"


rule extract_features:
    """From a text collection to judged pairs: index, candidates, rank models."""
    input:
        **run.vectors_read,
        collection=files.collection,
    output:
        **table_outputs("text-notes", "Data", "text: settings and notes"),
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
    wildcard_constraints:
        dataset=names_pattern(planned.of_kind("text")),
    resources:
        mem_mb=memory(4000, 0),
        runtime=minutes(60, 0.2),
    params:
        call="qdrank.figures.text_notes:write_text_features",
        options=lambda wc: dict(planned.datasets[wc.dataset].options),
        settings=settings.text.model_dump(),
        title=run.title,
        published=lambda wc: published_counts(planned.datasets[wc.dataset]),
        seed=settings.seed,
        query_vectors=settings.queries.vectors == "dense",
    script:
        "../../scripts/run_step.py"


rule simulate_features:
    """Draw a simulated data set."""
    output:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
    wildcard_constraints:
        dataset=names_pattern(
            [
                name
                for name in planned.of_kind("simulated")
                if name not in run.simulated_webs
            ]
        ),
    resources:
        mem_mb=memory(1200, 0),
        runtime=minutes(30),
    params:
        call="qdrank.datasets.simulated.features:write_simulated",
        arguments=lambda wc: {
            "like": wc.dataset,
            **planned.datasets[wc.dataset].options,
        },
    script:
        "../../scripts/run_step.py"


rule simulate_web:
    """Draw a simulated web, and compute the features of its pages from their text, links and addresses."""
    output:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.simulated_webs),
    resources:
        mem_mb=memory(3000, 0),
        runtime=minutes(30),
    params:
        call="qdrank.text.simweb:write_simweb",
        arguments=lambda wc: run.draw(wc.dataset),
    script:
        "../../scripts/run_step.py"
