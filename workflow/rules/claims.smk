# Claims: what the papers say, put to the test on every data set of the run.
#
# reads:  results/{dataset}/{study}/observations.parquet
# writes: results/findings/{study}.parquet         values behind the verdicts on all data sets, which decide them again
#         results/claims.parquet, claims.html       claim, expectation, measurement, effect and interval, verdict
#         results/claims-overview.{html,csv,md}     verdict and effect: one row per claim, one column per data set
#         results/averages/{study}.{svg,pdf,png}    the main claim of a study on each of four independent sets or more


rule decide_claims:
    """Verdicts on every claim; a claim about simulated data is about the mean over its seeds."""
    input:
        observations=[
            f"results/{name}/{short}/observations.parquet"
            for name, short in run.decided
        ],
    output:
        findings=[
            f"results/findings/{study.name}.parquet" for study in run.decided_studies
        ],
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
        call="qdrank.pages.findings:decide_claims",
        studies={
            study.short: {
                "claims": study.claims,
                "across": study.across,
                "about": {
                    "study": study.name,
                    "members": run.claim_members(study),
                    "budget": run.budget(study),
                    "queries_of": run.queries_of(study),
                    "worlds": {
                        name: run.world(name) for name in run.claim_members(study)
                    },
                },
            }
            for study in run.decided_studies
        },
        decided=run.decided,
        titles=claim_titles(run),
        configuration=run.configuration,
    script:
        "../../scripts/run_step.py"


rule draw_average:
    """Forest plot of a study's main claim: every independent set, their average, and what a new set would show."""
    input:
        claims="results/claims.parquet",
    output:
        svg=report(
            "results/averages/{study}.svg",
            category="Claims",
            caption="../report/average.rst",
            labels={"what": "average over sets: {study}"},
        ),
        pdf="results/averages/{study}.pdf",
        png="results/averages/{study}.png",
    wildcard_constraints:
        study=names_pattern(run.averaged),
    resources:
        mem_mb=memory(400, 3.5),
        runtime=minutes(5),
    params:
        call="qdrank.figures.averages:draw_average",
        study=lambda wc: wc.study,
        claim=lambda wc: run.averaged[wc.study],
        titles=claim_titles(run),
    script:
        "../../scripts/run_step.py"
