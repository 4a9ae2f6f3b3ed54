# Encode: vectors of the texts of collections, where the configuration names an encoder.
#
# reads:  the collection; the encoder's files, fetched or the user's own
# writes: results/{dataset}/vectors.parquet                 queries, documents and titles, with their vectors
#         results/{dataset}/{fold}/scores/dense.parquet     the best documents by these vectors


rule encode_texts:
    """Vectors of a share of the texts of a collection; a share is a set of whole blocks, so their number changes no byte."""
    input:
        collection=files.collection,
        encoder=files.encoder,
    output:
        temp("results/{dataset}/vectors/{scatteritem}.parquet"),
    wildcard_constraints:
        dataset=names_pattern(run.encoded),
    # Whatever is encoded waits for it.
    priority: 12
    resources:
        mem_mb=memory(2500, 6),
        runtime=minutes(240, 1),
    params:
        call="qdrank.text.encoding:write_shard",
        source=lambda wc: dict(planned.datasets[wc.dataset].options),
        encoder=dict(planned.encoder),
    script:
        "../../scripts/run_step.py"


rule gather_vectors:
    """The vectors of a collection, in its order."""
    input:
        shards=lambda wc: gather.encode(
            f"results/{wc.dataset}/vectors/{{scatteritem}}.parquet"
        ),
    output:
        vectors="results/{dataset}/vectors.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.encoded),
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30),
    params:
        call="qdrank.text.encoding:gather_vectors",
    script:
        "../../scripts/run_step.py"


rule retrieve_dense:
    """The encoder as a first stage: the documents whose vectors are nearest to a query's."""
    input:
        judged="results/{dataset}/judged.parquet",
        vectors="results/{dataset}/vectors.parquet",
    output:
        scores="results/{dataset}/{fold}/scores/dense.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.encoded),
    resources:
        mem_mb=memory(800, 4),
        runtime=minutes(30, 0.5),
    params:
        call="qdrank.rankers.dense:write_dense",
        depth=settings.text.candidates,
    script:
        "../../scripts/run_step.py"
