# Zha 2006: regression with a map of each query's targets (aTVT), its grid and its controls.
#
# reads:  results/{dataset}/judged.parquet
# writes: results/{dataset}/{fold}/zha/{regressor}/*.parquet    what follows, of one regressor
#         results/{dataset}/{fold}/zha/{regressor}/pairwise/    the same of the learner that it is set against
#         results/{dataset}/{fold}/zha/trees/{job}/             the same of some kinds of fits, where a fold is divided
#         results/{dataset}/{fold}/zha/trees/start.parquet      trees that the jobs of a divided fold begin with
#         results/{dataset}/{fold}/zha/trees/pairwise/tried/    what shards of its settings chose, where a fold is divided
#         results/{dataset}/{fold}/zha/cells.parquet            DCG of the test queries for every fit that is shown
#         results/{dataset}/{fold}/zha/maps.parquet             alpha and beta of training and test queries
#         results/{dataset}/{fold}/zha/objectives.parquet       the objective after every half step
#         results/{dataset}/{fold}/choices/zha.parquet          the settings tried, and which was chosen
#         results/{dataset}/{fold}/scores/zha-*.parquet         with the settings that validation chose
#         results/{dataset}/{fold}/refits/zha-trees-*.parquet   the same scores from further fits of boosted trees
#         results/{dataset}/{fold}/served/zha-*.parquet         the methods for `qdrank rank`
#
# Boosted trees of a fold are one job on small data sets (`fit_zha_trees`). Elsewhere the plain regressor is one
# (`fit_zha_trees_plain`), then there are five of other kinds, which begin with its setting and its trees.

from qdrank.learners.grids import GRIDS
from qdrank.studies.zha2006.methods import (
    FITTED_KINDS as ZHA_KINDS,
    JOBS as ZHA_JOBS,
    PAIRWISE,
    refitted_kinds,
)
from qdrank.workflow.run import JobFolds

ZHA = STUDIES["zha2006"]
ZHA_SETS = run.datasets_of(ZHA)
ZHA_DATASETS = names_pattern(ZHA_SETS)
ZHA_SMALL, ZHA_DIVIDED = run.small_and_others(ZHA_SETS)
ZHA_TABLES = ["cells", "maps", "objectives", "choices"]
# Kinds of methods built from a regressor; "pairwise" is what they are set against.
ZHA_FITTED_KINDS = [kind for kind in ZHA_KINDS if kind != "pairwise"]
ZHA_FITTED = {
    **{
        name: temp(f"results/{{dataset}}/{{fold}}/zha/{{regressor}}/{name}.parquet")
        for name in ZHA_TABLES
    },
    **{
        f"{made}_{kind}": f"results/{{dataset}}/{{fold}}/{made}/zha-{{regressor}}-{kind}.parquet"
        for made in ("scores", "served")
        for kind in ZHA_FITTED_KINDS
    },
}
ZHA_START = "results/{dataset}/{fold}/zha/{regressor}/start.parquet"
ZHA_COMPUTED = {**settings.zha.computed(), "refits": settings.refits}


rule fit_zha:
    """One regressor with and without aTVT on a fold: the grid, the choice on validation, the controls."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        **ZHA_FITTED,
    wildcard_constraints:
        dataset=ZHA_DATASETS,
        regressor="ridge",
    priority: 5
    resources:
        mem_mb=memory(750, 11.5),
        runtime=minutes(60, 3),
    params:
        scale=settings.training.scale,
        zha=ZHA_COMPUTED,
        seed=settings.seed,
    script:
        "../../scripts/zha2006/fit_zha.py"


use rule fit_zha as fit_zha_trees with:
    output:
        **ZHA_FITTED,
        **{
            f"refits_{kind}": f"results/{{dataset}}/{{fold}}/refits/zha-{{regressor}}-{kind}.parquet"
            for kind in refitted_kinds("trees", ZHA_FITTED_KINDS, settings.refits)
        },
    wildcard_constraints:
        dataset=names_pattern(ZHA_SMALL),
        regressor="trees",


# The same where it would be a long job: the plain regressor first, since all begin with what it chooses and grows.
for _job, _kinds in ZHA_JOBS.items():

    rule:
        name:
            f"fit_zha_trees_{_job}"
        input:
            **({} if _job == "plain" else {"start": ZHA_START}),
            judged="results/{dataset}/judged.parquet",
        output:
            **({"start": temp(ZHA_START)} if _job == "plain" else {}),
            **{
                name: temp(
                    f"results/{{dataset}}/{{fold}}/zha/{{regressor}}/{_job}/{name}.parquet"
                )
                for name in ZHA_TABLES
            },
            **{
                f"{made}_{kind}": f"results/{{dataset}}/{{fold}}/{made}/zha-{{regressor}}-{kind}.parquet"
                for made in ("scores", "served")
                for kind in ZHA_FITTED_KINDS
                if kind in _kinds
            },
            **{
                f"refits_{kind}": f"results/{{dataset}}/{{fold}}/refits/zha-{{regressor}}-{kind}.parquet"
                for kind in refitted_kinds("trees", ZHA_FITTED_KINDS, settings.refits)
                if kind in _kinds
            },
        wildcard_constraints:
            dataset=names_pattern(ZHA_DIVIDED),
            regressor="trees",
        priority: 5
        resources:
            mem_mb=memory(750, 11.5),
            runtime=minutes(60, 3),
        params:
            kinds=_kinds,
            scale=settings.training.scale,
            zha=ZHA_COMPUTED,
            seed=settings.seed,
        script:
            "../../scripts/zha2006/fit_zha.py"


scattergather:
    pairwise=3,


# The learner of pairs or lists that a regressor is set against: RankSVM for ridge, LambdaMART for trees. LambdaMART is
# long: a fold is a job, and where that is not small, `try_pairwise_trees` tries shards of the settings before.
_ridge = run.by_folds("learn_pairwise", ZHA_SETS, grows=True)
_trees = {
    "learn_pairwise": JobFolds(("{fold}",), ZHA_SMALL),
    "choose_pairwise": JobFolds(("{fold}",), ZHA_DIVIDED),
}
for _regressor, _jobs in (("ridge", _ridge), ("trees", _trees)):

    for _name, _folds in _jobs.items():

        rule:
            name:
                f"{_name}_{_regressor}"
            input:
                **(
                    {
                        "tried": gather.pairwise(
                            "results/{{dataset}}/{{fold}}/zha/trees/pairwise/tried/{scatteritem}.parquet"
                        )
                    }
                    if _name == "choose_pairwise"
                    else {}
                ),
                judged="results/{dataset}/judged.parquet",
            output:
                **{
                    name: temp(
                        _folds.each(
                            f"results/{{dataset}}/{{fold}}/zha/{_regressor}/pairwise/{name}.parquet"
                        )
                    )
                    for name in ("cells", "choices")
                },
                **{
                    f"{made}_pairwise": _folds.each(
                        f"results/{{dataset}}/{{fold}}/{made}/zha-{_regressor}-pairwise.parquet"
                    )
                    for made in ("scores", "served")
                },
                **{
                    f"refits_{kind}": _folds.each(
                        f"results/{{dataset}}/{{fold}}/refits/zha-{_regressor}-{kind}.parquet"
                    )
                    for kind in refitted_kinds(
                        _regressor, ["pairwise"], settings.refits
                    )
                },
            wildcard_constraints:
                dataset=names_pattern(_folds.datasets),
            resources:
                mem_mb=memory(750, 11.5),
                runtime=minutes(60, 3),
            params:
                h=_regressor,
                scale=settings.training.scale,
                zha=ZHA_COMPUTED,
                grid=GRIDS[PAIRWISE[_regressor][0]],
                seed=settings.seed,
            script:
                "../../scripts/zha2006/learn_pairwise.py"


use rule learn_pairwise_trees as try_pairwise_trees with:
    output:
        tried=temp(
            "results/{dataset}/{fold}/zha/trees/pairwise/tried/{scatteritem}.parquet"
        ),
    wildcard_constraints:
        dataset=names_pattern(ZHA_DIVIDED),


# Tables of all regressors of a fold, and of what they are set against, in one.
for _name, _folds in run.by_folds("gather_zha", ZHA_SETS).items():

    for _rule, _sets, _places in (
        (_name, ZHA_SMALL, [""]),
        (f"{_name}_divided", ZHA_DIVIDED, [f"{job}/" for job in ZHA_JOBS]),
    ):

        rule:
            name:
                _rule
            input:
                **{
                    name: [
                        path
                        for regressor in settings.zha.regressors
                        for of in (
                            *(_places if regressor == "trees" else [""]),
                            "pairwise/",
                        )
                        if of != "pairwise/" or name in ("cells", "choices")
                        for path in _folds.each(
                            f"results/{{dataset}}/{{fold}}/zha/{regressor}/{of}{name}.parquet"
                        )
                    ]
                    for name in ZHA_TABLES
                },
            output:
                cells=_folds.each("results/{dataset}/{fold}/zha/cells.parquet"),
                maps=_folds.each("results/{dataset}/{fold}/zha/maps.parquet"),
                objectives=_folds.each(
                    "results/{dataset}/{fold}/zha/objectives.parquet"
                ),
                choices=_folds.each("results/{dataset}/{fold}/choices/zha.parquet"),
            wildcard_constraints:
                dataset=names_pattern(name for name in _folds.datasets if name in _sets),
            resources:
                mem_mb=memory(400, 3.5),
                runtime=minutes(15),
            params:
                refits=settings.refits,
            script:
                "../../scripts/zha2006/gather_zha.py"
