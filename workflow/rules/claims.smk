# Claims: what the papers say, put to the test on every data set of the run.
#
# reads:  results/{dataset}/{study}/evidence.parquet
# writes: results/claims.parquet, claims.html       claim, expectation, measurement, effect and interval, verdict
#         results/claims-overview.{html,csv,md}     verdict and effect: one row per claim, one column per data set


rule judge_claims:
    """Verdicts on every claim; a claim about simulated data is about the mean over its seeds."""
    input:
        evidence=[
            f"results/{name}/{short}/evidence.parquet" for name, short in run.judged
        ],
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
    resources:
        mem_mb=memory(400, 10),
        runtime=minutes(15),
    params:
        studies={
            study.short: {
                "claims": study.claims,
                "across": study.across,
                "groups": run.claim_groups(study),
                "budget": run.budget(study),
                "worlds": {name: run.world(name) for name in run.claim_groups(study)},
            }
            for study in ALL_STUDIES
        },
        judged=run.judged,
        titles=claim_titles(run),
        configuration=run.configuration,
    script:
        "../../scripts/judge_claims.py"
