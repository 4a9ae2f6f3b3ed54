# Should the weights of a fusion depend on the query? Weights of runs with their controls. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet (made of runs), columns.parquet, topics.parquet, {fold}/queries.parquet
# writes: results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/refits/{method}.parquet      the same from further fits of methods that draw at random
#         results/{dataset}/{fold}/choices/hybrid.parquet       the settings tried, and which was chosen
#         results/{dataset}/{fold}/hybrid/*.parquet             controls and single runs, checks, curves, oracles
#         results/{dataset}/{fold}/served/{method}.parquet      rankers for `qdrank fuse --models`

from qdrank.studies import stored_kinds

HYBRID = STUDIES["hybrid"]


rule fit_hybrid:
    """All methods and controls of a fold, tuned on validation, the oracles and the curves."""
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
    output:
        **scores_and_rankers(run.methods_run(HYBRID)),
        **further_fits(run.refitted(run.methods_run(HYBRID))),
        choices="results/{dataset}/{fold}/choices/hybrid.parquet",
        controls="results/{dataset}/{fold}/hybrid/controls.parquet",
        checks="results/{dataset}/{fold}/hybrid/checks.parquet",
        weights="results/{dataset}/{fold}/hybrid/weights.parquet",
        learning="results/{dataset}/{fold}/hybrid/learning.parquet",
        oracle="results/{dataset}/{fold}/hybrid/oracle.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HYBRID)),
    resources:
        mem_mb=memory(1500, 40),
        runtime=minutes(60, 2),
    params:
        scale=settings.training.scale,
        queries=run.query_options,
        hybrid={
            **settings.hybrid.solved(),
            "seed": settings.seed,
            "tol": settings.training.tol,
            "refits": settings.refits,
            "readings": settings.lin.readings(),
            "kinds": {kind: stored_kinds()[kind] for kind in ("clusters", "ensemble")},
        },
        methods=run.methods_run(HYBRID),
    script:
        "../../scripts/hybrid/fit_hybrid.py"
