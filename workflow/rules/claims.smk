# Claims: what the papers say, put to the test on every data set of the run.
#
# reads:  results/{dataset}/{study}/observations.parquet
# writes: results/claims.parquet, claims.html       claim, expectation, measurement, effect and interval, verdict
#         results/claims-overview.{html,csv,md}     verdict and effect: one row per claim, one column per data set


rule decide_claims:
    """Verdicts on every claim; a claim about simulated data is about the mean over its seeds."""
    input:
        observations=[
            f"results/{name}/{short}/observations.parquet"
            for name, short in run.decided
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
        mem_mb=memory(400, 3.5),
        runtime=minutes(15),
    params:
        call="qdrank.pages.claims:decide_claims",
        studies={
            study.short: {
                "claims": study.claims,
                "across": study.across,
                "members": run.claim_members(study),
                "budget": run.budget(study),
                "queries_of": {
                    name: planned.datasets[name].queries_of or name
                    for name in run.claim_members(study)
                },
                "worlds": {name: run.world(name) for name in run.claim_members(study)},
            }
            for study in ALL_STUDIES
        },
        decided=run.decided,
        titles=claim_titles(run),
        configuration=run.configuration,
    script:
        "../../scripts/run_step.py"
