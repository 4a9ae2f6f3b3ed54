# Should the weights of a fusion depend on the query? Weights of runs with their controls. What it shows is declared in its folder.
#
# reads:  results/{dataset}/judged.parquet (made of runs), columns.parquet, topics.parquet, {fold}/queries.parquet
# writes: results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/refits/{method}.parquet      the same from further fits of methods that draw at random
#         results/{dataset}/{fold}/choices/hybrid*.parquet      the settings tried, and which was chosen
#         results/{dataset}/{fold}/hybrid/*.parquet             controls and single runs, checks, curves, oracles
#         results/{dataset}/{fold}/served/{method}.parquet      rankers for `qdrank fuse --models`

from qdrank.studies import stored_kinds
from qdrank.studies.hybrid.methods import BORROWED, PAPERS

HYBRID = STUDIES["hybrid"]


_RANKED = run.methods_run(HYBRID)
_PAPERS = [method for method in _RANKED if method in PAPERS]
_OTHERS = [method for method in _RANKED if method not in PAPERS]
_OPTIONS = {
    **settings.hybrid.solved(),
    "seed": settings.seed,
    "tol": settings.training.tol,
    "refits": settings.refits,
    "readings": settings.lin.readings(),
    "kinds": {kind: stored_kinds()[kind] for kind in BORROWED},
}


rule fit_hybrid:
    """All methods and controls of a fold but the papers', tuned on validation, the oracles and the curves."""
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
    output:
        **scores_and_rankers(_OTHERS),
        **further_fits(run.refitted(_OTHERS)),
        choices="results/{dataset}/{fold}/choices/hybrid.parquet",
        controls="results/{dataset}/{fold}/hybrid/controls.parquet",
        checks="results/{dataset}/{fold}/hybrid/checks.parquet",
        weights="results/{dataset}/{fold}/hybrid/weights.parquet",
        learning="results/{dataset}/{fold}/hybrid/learning.parquet",
        oracle="results/{dataset}/{fold}/hybrid/oracle.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HYBRID)),
    # the papers' job of a fold waits for this one
    priority: 5
    resources:
        mem_mb=memory(900, 15),
        runtime=minutes(60, 2),
    params:
        scale=settings.training.scale,
        queries=run.query_options,
        hybrid=_OPTIONS,
        methods=_OTHERS,
    script:
        "../../scripts/hybrid/fit_hybrid.py"


# A job of its own: five folds as ten jobs keep two cores busy to the end.
rule fit_hybrid_papers:
    """The papers' methods on the runs' scores, in the norm of the tuned fixed weights, and their controls."""
    input:
        **query_files("results/{dataset}", "{fold}"),
        judged="results/{dataset}/judged.parquet",
        fixed="results/{dataset}/{fold}/served/hybrid-fixed.parquet",
    output:
        **scores_and_rankers(_PAPERS),
        **further_fits(run.refitted(_PAPERS)),
        choices="results/{dataset}/{fold}/choices/hybrid-papers.parquet",
        controls="results/{dataset}/{fold}/hybrid/paper-controls.parquet",
    wildcard_constraints:
        dataset=names_pattern(run.datasets_of(HYBRID)),
    # what is measured waits for it, and a figure does not
    priority: 4
    resources:
        mem_mb=memory(900, 15),
        runtime=minutes(60, 2),
    params:
        scale=settings.training.scale,
        queries=run.query_options,
        hybrid=_OPTIONS,
        methods=_PAPERS,
    script:
        "../../scripts/hybrid/fit_hybrid_papers.py"
