# Zha 2006: regression with a map of each query's targets (aTVT), its grid and its controls.
#
# reads:  results/{dataset}/judged.parquet
# writes: results/{dataset}/{fold}/zha/{regressor}/*.parquet    what follows, of one regressor
#         results/{dataset}/{fold}/zha/cells.parquet            DCG of the test queries for every fit that is shown
#         results/{dataset}/{fold}/zha/maps.parquet             alpha and beta of training and test queries
#         results/{dataset}/{fold}/zha/objectives.parquet       the objective after every half step
#         results/{dataset}/{fold}/choices/zha.parquet          the settings tried, and which was chosen
#         results/{dataset}/{fold}/scores/zha-*.parquet         with the settings that validation chose
#         results/{dataset}/{fold}/served/zha-*.parquet         the methods for `qdrank rank`

from qdrank.learners import LEARNERS
from qdrank.studies.zha2006.methods import FITTED_KINDS as ZHA_KINDS
from qdrank.studies.zha2006.methods import PAIRWISE as ZHA_PAIRWISE

ZHA = STUDIES["zha2006"]
ZHA_DATASETS = names_pattern(run.datasets_of(ZHA))
# Any of these may be the study's measure, by the grades of the data.
ZHA_MODULES = sorted(
    {measure_module(f"dcg@5/{gains}") for gains in ("exp", "linear", "zha")}
)
ZHA_TABLES = ["cells", "maps", "objectives", "choices"]


rule fit_zha:
    """One regressor with and without aTVT on a fold: the grid, the choice on validation, the controls."""
    input:
        judged="results/{dataset}/judged.parquet",
    output:
        **{
            name: temp(
                f"results/{{dataset}}/{{fold}}/zha/{{regressor}}/{name}.parquet"
            )
            for name in ZHA_TABLES
        },
        **{
            f"{made}_{kind}": f"results/{{dataset}}/{{fold}}/{made}/zha-{{regressor}}-{kind}.parquet"
            for made in ("scores", "served")
            for kind in ZHA_KINDS
        },
    log:
        "logs/fit_zha/{dataset}/{fold}/{regressor}.log",
    benchmark:
        "benchmarks/fit_zha/{dataset}/{fold}/{regressor}.tsv"
    wildcard_constraints:
        dataset=ZHA_DATASETS,
        regressor="ridge|trees",
    priority: 5
    conda:
        "../../envs/qdrank.yaml"
    resources:
        mem_mb=memory(1500, 40),
        runtime=minutes(60, 3),
    params:
        scale=settings.training.scale,
        zha=settings.zha.computed(),
        seed=settings.seed,
        code=code(
            "zha2006/fit_zha",
            *ZHA_MODULES,
            *(LEARNERS.module(learner) for learner, _ in ZHA_PAIRWISE.values()),
        ),
    script:
        "../../scripts/zha2006/fit_zha.py"


rule gather_zha:
    """Tables of all regressors of a fold in one."""
    input:
        **{
            name: expand(
                f"results/{{{{dataset}}}}/{{{{fold}}}}/zha/{{regressor}}/{name}.parquet",
                regressor=settings.zha.regressors,
            )
            for name in ZHA_TABLES
        },
    output:
        cells="results/{dataset}/{fold}/zha/cells.parquet",
        maps="results/{dataset}/{fold}/zha/maps.parquet",
        objectives="results/{dataset}/{fold}/zha/objectives.parquet",
        choices="results/{dataset}/{fold}/choices/zha.parquet",
    log:
        "logs/gather_zha/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/gather_zha/{dataset}/{fold}.tsv"
    wildcard_constraints:
        dataset=ZHA_DATASETS,
    conda:
        "../../envs/qdrank.yaml"
    resources:
        mem_mb=memory(400, 10),
        runtime=minutes(15),
    params:
        code=code("zha2006/gather_zha"),
    script:
        "../../scripts/zha2006/gather_zha.py"
