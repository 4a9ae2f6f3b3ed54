# Claims: what the papers say, put to the test on every data set of the run.
#
# reads:  results/{dataset}/geng/evidence.parquet
# writes: results/claims.parquet, claims.html       claim, expectation, measurement, effect and interval, verdict
#         results/claims-overview.{html,csv,md}     verdict and effect, a row a claim, a column a data set


rule judge_claims:
    """Verdicts on every claim; a claim about simulated data is about the mean over its seeds."""
    input:
        evidence=each_geng("results/{dataset}/geng/evidence.parquet"),
    output:
        table="results/claims.parquet",
        html=report(
            "results/claims.html",
            category="Claims",
            caption="../report/claims.rst",
            labels={"what": "claims of the papers"},
        ),
        overview=report(
            "results/claims-overview.html",
            category="Claims",
            caption="../report/claims-overview.rst",
            labels={"what": "claims at a glance"},
        ),
        csv="results/claims-overview.csv",
        md="results/claims-overview.md",
    log:
        "logs/judge_claims.log",
    benchmark:
        "benchmarks/judge_claims.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(400, 10),
        runtime=minutes(15),
    params:
        datasets=list(GENG_DATASETS),
        groups=claim_groups(),
        pairs=[["sim1", "sim2"]],
        margin=settings.geng.margin,
        code=code("judge_claims"),
    script:
        "../../scripts/judge_claims.py"
