# Geng 2008, tables: methods and tests, the paper's future work, the cost of testing, and the evidence for its claims.
#
# reads:  results/{dataset}/geng/measures.parquet, {fold}/choices/geng.parquet, {fold}/geng/*.parquet, {fold}/models/local.parquet
# writes: results/{dataset}/tables/geng-*.*
#         results/{dataset}/{fold}/geng/future.parquet    measures of the variants that the paper leaves for later
#         results/{dataset}/geng/evidence.parquet         values behind each claim


rule tabulate_geng:
    """Methods, folds, tests, and how well QC's classes are guessed."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
        choices=each_fold("results/{dataset}/{fold}/choices/geng.parquet"),
        classes=each_fold("results/{dataset}/{fold}/classes.parquet"),
    output:
        **geng_table("geng-methods", "methods", "methods_"),
        **geng_table("geng-folds", "methods by fold", "folds_"),
        **geng_table("geng-tests", "tests of Figure 7", "tests_"),
        **geng_table("geng-qc", "classes for QC", "qc_"),
    log:
        "logs/tabulate_geng/{dataset}.log",
    benchmark:
        "benchmarks/tabulate_geng/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(600, 20),
        runtime=minutes(15),
    params:
        title=dataset_title,
        folds=lambda wc: list(study.datasets[wc.dataset].folds),
        interval=INTERVAL,
        code=code("tabulate_geng"),
    script:
        "../../scripts/tabulate_geng.py"


rule compare_future:
    """Variants of KNN Online that the paper leaves for later, on one fold."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        choices="results/{dataset}/{fold}/choices/geng.parquet",
    output:
        "results/{dataset}/{fold}/geng/future.parquet",
    log:
        "logs/compare_future/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/compare_future/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000, 20),
        runtime=minutes(60, 0.5),
    params:
        **TRAINING,
        block=settings.training.block,
        vectors=settings.queries.model_dump(),
        metric=settings.neighbours.metric,
        clusters=settings.geng.clusters,
        seed=settings.seed,
        code=code("compare_future", *GENG_MODULES, *map(METRICS.module, METRICS)),
    script:
        "../../scripts/compare_future.py"


rule tabulate_future:
    """The paper's future work, compared with KNN Online."""
    input:
        measures=each_fold("results/{dataset}/{fold}/geng/future.parquet"),
    output:
        **geng_table("geng-future", "the paper's future work"),
    log:
        "logs/tabulate_future/{dataset}.log",
    benchmark:
        "benchmarks/tabulate_future/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(600, 20),
        runtime=minutes(15),
    params:
        title=dataset_title,
        interval=INTERVAL,
        code=code("tabulate_future"),
    script:
        "../../scripts/tabulate_future.py"


rule time_geng:
    """Table 1, measured: the time of each step of testing; the first fold. Times differ from run to run."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        **geng_table("geng-table1", "Table 1: time of testing"),
    log:
        "logs/time_geng/{dataset}.log",
    benchmark:
        "benchmarks/time_geng/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000, 20),
        runtime=minutes(30, 0.5),
    params:
        **TRAINING,
        title=dataset_title,
        fold=lambda wc: study.datasets[wc.dataset].folds[0],
        lam=settings.geng.lam,
        code=code("time_geng"),
    script:
        "../../scripts/time_geng.py"


rule claim_geng:
    """The claims of the paper on one data set: evidence and verdicts."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
        sweeps=each_fold("results/{dataset}/{fold}/geng/sweep.parquet"),
        bounds=each_fold("results/{dataset}/{fold}/geng/bound.parquet"),
        queries=first_fold("results/{dataset}/{fold}/queries.parquet"),
        neighbours=first_fold("results/{dataset}/{fold}/neighbours.parquet"),
        classes=first_fold("results/{dataset}/{fold}/classes.parquet"),
    output:
        **geng_table("geng-claims", "claims"),
        evidence="results/{dataset}/geng/evidence.parquet",
    log:
        "logs/claim_geng/{dataset}.log",
    benchmark:
        "benchmarks/claim_geng/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 20),
        runtime=minutes(15),
    params:
        title=dataset_title,
        lam=settings.geng.lam,
        margin=settings.geng.margin,
        code=code("claim_geng"),
    script:
        "../../scripts/claim_geng.py"


rule geng_fig1:
    """Target: Figure 1 of every data set."""
    input:
        each_geng("results/{dataset}/figures/geng-fig1.svg"),


rule geng_fig7:
    """Target: Figure 7 of every data set."""
    input:
        each_geng("results/{dataset}/figures/geng-fig7.svg"),


rule geng_fig8:
    """Target: Figure 8 of every data set."""
    input:
        each_geng("results/{dataset}/figures/geng-fig8.svg"),


rule geng_fig9:
    """Target: Figure 9 of every data set."""
    input:
        each_geng("results/{dataset}/figures/geng-fig9.svg"),


rule geng_bound:
    """Target: the stability bound of every data set."""
    input:
        each_geng("results/{dataset}/figures/geng-bound.svg"),


rule geng_table1:
    """Target: Table 1 of every data set."""
    input:
        each_geng("results/{dataset}/tables/geng-table1.html"),


rule geng_future:
    """Target: the paper's future work on every data set."""
    input:
        each_geng("results/{dataset}/tables/geng-future.html"),


rule geng_claims:
    """Target: the claims of the paper on every data set."""
    input:
        each_geng("results/{dataset}/tables/geng-claims.html"),


rule geng:
    """Target: the whole study of Geng 2008."""
    input:
        rules.geng_fig1.input,
        rules.geng_fig7.input,
        rules.geng_fig8.input,
        rules.geng_fig9.input,
        rules.geng_bound.input,
        rules.geng_table1.input,
        rules.geng_future.input,
        rules.geng_claims.input,
        each_geng("results/{dataset}/tables/geng-methods.html"),
