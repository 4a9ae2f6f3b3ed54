# Geng 2008: ranking with the k nearest training queries, its baselines, controls, figures, tables and claims.
#
# reads:  results/{dataset}/judged.parquet, {fold}/queries.parquet, neighbours.parquet, models/*.parquet, classes.parquet
# writes: results/{dataset}/{fold}/scores/{method}.parquet      with the settings that validation chose
#         results/{dataset}/{fold}/choices/geng.parquet         the settings tried, and which was chosen
#         results/{dataset}/{fold}/geng/sweep.parquet           measures and change ratios for every k and lambda
#         results/{dataset}/{fold}/geng/bound.parquet           the stability bound beside what is observed
#         results/{dataset}/geng/measures.parquet               measures of the methods of this study alone

geng_figure = partial(reported_figure, "Geng 2008")
geng_table = partial(reported_table, "Geng 2008")
GENG_MEASURES = [*CONVENTIONS["geng"], "ap", "ndcg@10/letor4"]
GENG_MODULES = sorted(
    set(map(measure_module, [*GENG_MEASURES, settings.training.measure]))
)


rule score_geng:
    """Scores of Single, QC, the KNN methods and their controls, for every setting and for the chosen one."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        classes="results/{dataset}/{fold}/classes.parquet",
        whole="results/{dataset}/{fold}/models/global.parquet",
        local="results/{dataset}/{fold}/models/local.parquet",
    output:
        **{
            method: f"results/{{dataset}}/{{fold}}/scores/{method}.parquet"
            for method in GENG_SCORED
        },
        choices="results/{dataset}/{fold}/choices/geng.parquet",
        sweep="results/{dataset}/{fold}/geng/sweep.parquet",
        bound="results/{dataset}/{fold}/geng/bound.parquet",
    log:
        "logs/score_geng/{dataset}/{fold}.log",
    benchmark:
        "benchmarks/score_geng/{dataset}/{fold}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000, 8),
        runtime=minutes(30, 0.2),
    params:
        scale=settings.training.scale,
        measure=settings.training.measure,
        geng={**LOCAL, "offline1": settings.geng.offline1},
        bound_queries=settings.geng.bound_queries,
        bound_pairs=settings.geng.bound_pairs,
        seed=settings.seed,
        code=code("score_geng", *GENG_MODULES),
    script:
        "../../scripts/score_geng.py"


# The study waits for no method of another one.
use rule measure_methods as measure_geng with:
    input:
        judged="results/{dataset}/judged.parquet",
        scores=each_fold(
            "results/{dataset}/{fold}/scores/{method}.parquet",
            method=["reference", *GENG_METHODS],
        ),
    output:
        "results/{dataset}/geng/measures.parquet",
    log:
        "logs/measure_geng/{dataset}.log",
    benchmark:
        "benchmarks/measure_geng/{dataset}.tsv"
    params:
        measures=GENG_MEASURES,
        folds=lambda wc: list(study.datasets[wc.dataset].folds),
        methods=["reference", *GENG_METHODS],
        code=code("measure_methods", *GENG_MODULES),


rule draw_geng_fig1:
    """Queries in two principal components by class, and how many neighbours share a query's class; the first fold."""
    input:
        queries=first_fold("results/{dataset}/{fold}/queries.parquet"),
        neighbours=first_fold("results/{dataset}/{fold}/neighbours.parquet"),
        classes=first_fold("results/{dataset}/{fold}/classes.parquet"),
    output:
        **geng_figure("geng-fig1", "Figure 1: query space"),
    log:
        "logs/draw_geng_fig1/{dataset}.log",
    benchmark:
        "benchmarks/draw_geng_fig1/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 6),
        runtime=minutes(15),
    params:
        title=lambda wc: wc.dataset,
        dpi=settings.figures.dpi,
        code=code("draw_geng_fig1"),
    script:
        "../../scripts/draw_geng_fig1.py"


rule draw_geng_fig7:
    """NDCG@1 to @10 and their mean, all methods and controls."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
    output:
        **geng_figure("geng-fig7", "Figure 7: methods"),
    log:
        "logs/draw_geng_fig7/{dataset}.log",
    benchmark:
        "benchmarks/draw_geng_fig7/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 10),
        runtime=minutes(15),
    params:
        title=lambda wc: wc.dataset,
        interval=INTERVAL,
        dpi=settings.figures.dpi,
        code=code("draw_geng_fig7"),
    script:
        "../../scripts/draw_geng_fig7.py"


rule draw_geng_fig8:
    """NDCG@5 and NDCG@10 against the number of neighbours."""
    input:
        sweeps=each_fold("results/{dataset}/{fold}/geng/sweep.parquet"),
    output:
        **geng_figure("geng-fig8", "Figure 8: number of neighbours"),
    log:
        "logs/draw_geng_fig8/{dataset}.log",
    benchmark:
        "benchmarks/draw_geng_fig8/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 20),
        runtime=minutes(15),
    params:
        title=lambda wc: wc.dataset,
        lam=settings.geng.lam,
        interval=INTERVAL,
        dpi=settings.figures.dpi,
        code=code("draw_geng_fig8"),
    script:
        "../../scripts/draw_geng_fig8.py"


rule draw_geng_fig9:
    """The change ratio between the training sets of KNN Online and the offline methods."""
    input:
        sweeps=each_fold("results/{dataset}/{fold}/geng/sweep.parquet"),
    output:
        **geng_figure("geng-fig9", "Figure 9: change ratio"),
    log:
        "logs/draw_geng_fig9/{dataset}.log",
    benchmark:
        "benchmarks/draw_geng_fig9/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 20),
        runtime=minutes(15),
    params:
        title=lambda wc: wc.dataset,
        lam=settings.geng.lam,
        interval=INTERVAL,
        dpi=settings.figures.dpi,
        code=code("draw_geng_fig9"),
    script:
        "../../scripts/draw_geng_fig9.py"


rule draw_geng_bound:
    """The stability bound of theorem 1 beside what is observed."""
    input:
        bounds=each_fold("results/{dataset}/{fold}/geng/bound.parquet"),
    output:
        **geng_figure("geng-bound", "Theorem 1: stability bound"),
    log:
        "logs/draw_geng_bound/{dataset}.log",
    benchmark:
        "benchmarks/draw_geng_bound/{dataset}.tsv"
    conda:
        "../../envs/qdrank.yaml"
    threads: 1
    resources:
        mem_mb=memory(700, 20),
        runtime=minutes(15),
    params:
        title=lambda wc: wc.dataset,
        dpi=settings.figures.dpi,
        code=code("draw_geng_bound"),
    script:
        "../../scripts/draw_geng_bound.py"
