# Scores: what each method says of every test document.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet
# writes: results/{dataset}/{fold}/scores/{method}.parquet    query, document, score


rule score_reference:
    """The reference feature alone: the ranking that every method starts from."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        "results/{dataset}/{fold}/scores/reference.parquet",
    log:
        "logs/score_reference/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/score_reference/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    resources:
        mem_mb=memory(500, 6),
        runtime=minutes(15, 0.05),
    params:
        code=code("score_reference"),
    script:
        "../../scripts/score_reference.py"
