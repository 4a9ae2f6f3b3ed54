# What `qdrank rules geng2008 --configfile tests/configs/tiny.yaml` prints.

rule train_global:
    """Models of all training queries and of each class of queries, for every lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        topics="results/{dataset}/topics.parquet",
    output:
        models="results/{dataset}/{fold}/models/global.parquet",
        classes="results/{dataset}/{fold}/classes.parquet",
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(650, 1.6),
        runtime=minutes(60, 0.5),
    params:
        call="qdrank.studies.geng2008.global_models:write_global",
        scale="auto",
        tol=1e-06,
        lambdas=[0.1, 0.01],
        starts=10,
        seed=1,
    script:
        "../../scripts/run_step.py"

rule train_local:
    """One shard of the local models of a fold, through every k and lambda."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
    output:
        models=temp("results/{dataset}/{fold}/models/local/{scatteritem}.parquet"),
    wildcard_constraints:
        dataset="tiny",
    priority: 10
    resources:
        mem_mb=memory(700, 2.7),
        runtime=minutes(60, 0.16),
    params:
        call="qdrank.studies.geng2008.local_models:train_local",
        scale="auto",
        tol=1e-06,
        geng={'ks': [0.1, 0.27, 0.53, 1.0], 'lam': 0.01, 'choose': 'validation', 'k': 0.27, 'candidates': [0.27, 0.53], 'lambdas': [0.1, 0.01], 'controls': ['equal', 'random']},
        block=8,
        seed=1,
    script:
        "../../scripts/run_step.py"

rule train_lambdamart:
    """LambdaMART, with and without query vectors: tuned on validation, its model, its scores of the test documents."""
    input:
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        scale="results/{dataset}/{fold}/scale.parquet",
        judged="results/{dataset}/judged.parquet",
    output:
        models="results/{dataset}/{fold}/models/{method}.parquet",
        choices="results/{dataset}/{fold}/choices/{method}.parquet",
        scores="results/{dataset}/{fold}/scores/{method}.parquet",
        served="results/{dataset}/{fold}/served/{method}.parquet",
        refits="results/{dataset}/{fold}/refits/{method}.parquet",
    wildcard_constraints:
        dataset="tiny",
        method="lambdamart|lambdamart\\-vectors",
    threads: 4
    resources:
        mem_mb=memory(1000, 2.5),
        runtime=minutes(60, 1),
    params:
        call="qdrank.rankers.learning:learn_method",
        learner="lambdamart",
        ranks=False,
        scale="auto",
        measure="mean_ndcg/geng",
        grid={'leaves': [4, 7], 'min_leaf': [20, 100], 'learning_rate': [0.1], 'rounds': [10], 'patience': [20]},
        queries=None,  # on tiny
        seed=1,
        refits=2,
    script:
        "../../scripts/run_step.py"

rule choose_offline:
    """Which ready model serves each query, for every k: known from the neighbours, while the models are trained."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
    output:
        offline="results/{dataset}/{fold}/geng/offline.parquet",
    wildcard_constraints:
        dataset="tiny",
    priority: 11
    resources:
        mem_mb=memory(700, 0.9),
        runtime=minutes(30, 0.2),
    params:
        call="qdrank.studies.geng2008.offline:choose_offline",
        geng={'ks': [0.1, 0.27, 0.53, 1.0], 'lam': 0.01, 'choose': 'validation', 'k': 0.27, 'candidates': [0.27, 0.53], 'lambdas': [0.1, 0.01], 'controls': ['equal', 'random']},
    script:
        "../../scripts/run_step.py"

rule score_geng:
    """Scores of Single, QC, the KNN methods and their controls, and values along k."""
    input:
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        scale="results/{dataset}/{fold}/scale.parquet",
        judged="results/{dataset}/judged.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        offline="results/{dataset}/{fold}/geng/offline.parquet",
        metric="results/{dataset}/{fold}/metric.parquet",
        whole="results/{dataset}/{fold}/models/global.parquet",
        shards=["results/tiny/fold1/models/local/1-of-1.parquet"],  # on tiny
    output:
        single="results/{dataset}/{fold}/scores/single.parquet",
        **{"single-equal": "results/{dataset}/{fold}/scores/single-equal.parquet"},
        qc="results/{dataset}/{fold}/scores/qc.parquet",
        **{"qc-documents": "results/{dataset}/{fold}/scores/qc-documents.parquet"},
        **{"knn-online": "results/{dataset}/{fold}/scores/knn-online.parquet"},
        **{"knn-offline1": "results/{dataset}/{fold}/scores/knn-offline1.parquet"},
        **{"knn-offline2": "results/{dataset}/{fold}/scores/knn-offline2.parquet"},
        **{"knn-equal": "results/{dataset}/{fold}/scores/knn-equal.parquet"},
        **{"knn-random": "results/{dataset}/{fold}/scores/knn-random.parquet"},
        served_single="results/{dataset}/{fold}/served/single.parquet",
        **{"served_single-equal": "results/{dataset}/{fold}/served/single-equal.parquet"},
        served_qc="results/{dataset}/{fold}/served/qc.parquet",
        **{"served_qc-documents": "results/{dataset}/{fold}/served/qc-documents.parquet"},
        **{"served_knn-online": "results/{dataset}/{fold}/served/knn-online.parquet"},
        **{"served_knn-offline1": "results/{dataset}/{fold}/served/knn-offline1.parquet"},
        **{"served_knn-offline2": "results/{dataset}/{fold}/served/knn-offline2.parquet"},
        **{"served_knn-equal": "results/{dataset}/{fold}/served/knn-equal.parquet"},
        **{"served_knn-random": "results/{dataset}/{fold}/served/knn-random.parquet"},
        **{"refits_knn-random": "results/{dataset}/{fold}/refits/knn-random.parquet"},
        local="results/{dataset}/{fold}/models/local.parquet",
        choices="results/{dataset}/{fold}/choices/geng.parquet",
        values="results/{dataset}/{fold}/geng/values.parquet",
    wildcard_constraints:
        dataset="tiny",
    priority: 10
    resources:
        mem_mb=memory(800, 1.4),
        runtime=minutes(45, 0.2),
    params:
        call="qdrank.studies.geng2008.fold:write_fold",
        scale="auto",
        measure="mean_ndcg/geng",
        queries={'top': 50, 'pooling': 'mean', 'view': 'given', 'query_columns': False, 'scale': 'zscore'},  # on tiny
        geng={'ks': [0.1, 0.27, 0.53, 1.0], 'lam': 0.01, 'choose': 'validation', 'k': 0.27, 'candidates': [0.27, 0.53], 'lambdas': [0.1, 0.01], 'controls': ['equal', 'random']},
        metric="euclidean",
        tol=1e-06,
        starts=10,
        seed=1,
        refits=2,
    script:
        "../../scripts/run_step.py"

rule check_bound:
    """The bound of theorem 1 and the differences of loss that are observed, with models of the hinge loss."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        neighbours="results/{dataset}/{fold}/neighbours.parquet",
        offline="results/{dataset}/{fold}/geng/offline.parquet",
    output:
        bound="results/{dataset}/{fold}/geng/bound.parquet",
    wildcard_constraints:
        dataset="tiny",
    priority: 11
    resources:
        mem_mb=memory(800, 2),
        runtime=minutes(60, 3),
    params:
        call="qdrank.studies.geng2008.stability:write_bound",
        scale="auto",
        tol=1e-06,
        geng={'ks': [0.1, 0.27, 0.53, 1.0], 'lam': 0.01, 'choose': 'validation', 'k': 0.27, 'candidates': [0.27, 0.53], 'lambdas': [0.1, 0.01], 'controls': ['equal', 'random']},
        queries=5,
        pairs=10,
        seed=1,
    script:
        "../../scripts/run_step.py"

rule compare_variants:
    """Variants of KNN Online, most of them the paper's future work."""
    input:
        judged="results/{dataset}/judged.parquet",
        queries="results/{dataset}/{fold}/queries.parquet",
        columns="results/{dataset}/columns.parquet",
        topics="results/{dataset}/topics.parquet",
        served="results/{dataset}/{fold}/served/knn-online.parquet",
    output:
        values="results/{dataset}/{fold}/geng/variants.parquet",
    wildcard_constraints:
        dataset="tiny",
    priority: 5
    resources:
        mem_mb=memory(800, 2.1),
        runtime=minutes(60, 0.5),
    params:
        call="qdrank.studies.geng2008.variants:write_variants",
        scale="auto",
        tol=1e-06,
        block=8,
        vectors={'top': 50, 'pooling': 'mean', 'view': 'given', 'query_columns': False, 'scale': 'zscore'},  # on tiny
        metric="euclidean",
        clusters=[0.1, 0.3],
        starts=10,
        most=400,
        seed=1,
    script:
        "../../scripts/run_step.py"

rule time_testing:
    """Time of each step of testing; apart from its table, so that a new title does not take the time again."""
    input:
        judged="results/{dataset}/judged.parquet",
        columns="results/{dataset}/columns.parquet",
    output:
        times="results/{dataset}/geng/table1-times.parquet",
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(800, 1.3),
        runtime=minutes(30, 0.5),
    params:
        call="qdrank.studies.geng2008.timing:write_times",
        scale="auto",
        tol=1e-06,
        lam=0.01,
        fold="fold1",  # on tiny
    script:
        "../../scripts/run_step.py"

rule measure_geng:
    """Measures of the methods of Geng 2008; a study waits for no method of another one."""
    input:
        judged="results/{dataset}/judged.parquet",
        scores=["results/tiny/fold1/scores/reference.parquet", "results/tiny/fold1/scores/single.parquet", "results/tiny/fold1/scores/single-equal.parquet", "results/tiny/fold1/scores/qc.parquet", "results/tiny/fold1/scores/qc-documents.parquet", "results/tiny/fold1/scores/knn-online.parquet", "results/tiny/fold1/scores/knn-offline1.parquet", "results/tiny/fold1/scores/knn-offline2.parquet", "results/tiny/fold1/scores/knn-equal.parquet", "results/tiny/fold1/scores/knn-random.parquet", "results/tiny/fold1/scores/lambdamart.parquet", "results/tiny/fold1/scores/lambdamart-vectors.parquet"],  # on tiny
        refits=["results/tiny/fold1/refits/knn-random.parquet", "results/tiny/fold1/refits/lambdamart.parquet", "results/tiny/fold1/refits/lambdamart-vectors.parquet"],  # on tiny
    output:
        measures="results/{dataset}/geng/measures.parquet",
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(600, 2),
        runtime=minutes(30, 0.05),
    params:
        call="qdrank.evaluation.measuring:write_measures",
        measures=["ndcg@1/geng", "ndcg@2/geng", "ndcg@3/geng", "ndcg@4/geng", "ndcg@5/geng", "ndcg@6/geng", "ndcg@7/geng", "ndcg@8/geng", "ndcg@9/geng", "ndcg@10/geng", "mean_ndcg/geng", "ap", "ndcg@10/letor4"],
        folds=["fold1"],  # on tiny
        methods=["reference", "single", "single-equal", "qc", "qc-documents", "knn-online", "knn-offline1", "knn-offline2", "knn-equal", "knn-random", "lambdamart", "lambdamart-vectors"],  # on tiny
        refitted=["knn-random", "lambdamart", "lambdamart-vectors"],  # on tiny
    script:
        "../../scripts/run_step.py"

rule claim_geng:
    """Verdicts on the claims of Geng 2008, and the values behind them."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
        values=["results/tiny/fold1/geng/values.parquet"],  # on tiny
        bounds=["results/tiny/fold1/geng/bound.parquet"],  # on tiny
        queries=["results/tiny/fold1/queries.parquet"],  # on tiny
        neighbours=["results/tiny/fold1/neighbours.parquet"],  # on tiny
        classes=["results/tiny/fold1/classes.parquet"],  # on tiny
    output:
        parquet="results/{dataset}/tables/geng-claims.parquet",
        csv="results/{dataset}/tables/geng-claims.csv",
        md="results/{dataset}/tables/geng-claims.md",
        tex="results/{dataset}/tables/geng-claims.tex",
        html=report("results/{dataset}/tables/geng-claims.html"),
        observations="results/{dataset}/geng/observations.parquet",
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15, 0),
    params:
        call="qdrank.studies.tabulating:gather_observations",
        make="qdrank.studies.geng2008.observations:gather",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={'lam': 0.01},
        claims="qdrank.studies.geng2008.claims:declare",
        budget={'lam': 0.01, 'candidates': [0.27, 0.53], 'lambdas': [0.1, 0.01], 'trees': {'leaves': [4, 7], 'min_leaf': [20, 100], 'learning_rate': [0.1]}, 'global_lambdas': [0.1, 0.01]},
        world="A tiny simulated set",  # on tiny
    script:
        "../../scripts/run_step.py"

rule draw_geng_fig1:
    """Geng 2008: Figure 1: query space."""
    input:
        queries=["results/tiny/fold1/queries.parquet"],  # on tiny
        neighbours=["results/tiny/fold1/neighbours.parquet"],  # on tiny
        classes=["results/tiny/fold1/classes.parquet"],  # on tiny
    output:
        f0_parquet="results/{dataset}/figures/geng-fig1.parquet",
        f0_pdf="results/{dataset}/figures/geng-fig1.pdf",
        f0_svg=report("results/{dataset}/figures/geng-fig1.svg"),
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15, 0),
    params:
        call="qdrank.studies.drawing:draw_figures",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        makes=["qdrank.studies.geng2008.figures:draw_queries"],
        dpi=150,
    script:
        "../../scripts/run_step.py"

rule draw_geng_fig7:
    """Geng 2008: Figure 7: methods; differences from Single; controls and baselines."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
    output:
        f0_parquet="results/{dataset}/figures/geng-fig7.parquet",
        f0_pdf="results/{dataset}/figures/geng-fig7.pdf",
        f0_svg=report("results/{dataset}/figures/geng-fig7.svg"),
        f1_parquet="results/{dataset}/figures/geng-differences.parquet",
        f1_pdf="results/{dataset}/figures/geng-differences.pdf",
        f1_svg=report("results/{dataset}/figures/geng-differences.svg"),
        f2_parquet="results/{dataset}/figures/geng-controls.parquet",
        f2_pdf="results/{dataset}/figures/geng-controls.pdf",
        f2_svg=report("results/{dataset}/figures/geng-controls.svg"),
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15, 0),
    params:
        call="qdrank.studies.drawing:draw_figures",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        makes=["qdrank.studies.geng2008.figures:draw_methods", "qdrank.studies.geng2008.figures:draw_differences", "qdrank.studies.geng2008.figures:draw_controls"],
        dpi=150,
    script:
        "../../scripts/run_step.py"

rule draw_geng_fig8:
    """Geng 2008: Figure 8: number of neighbours; Figure 9: change ratio."""
    input:
        values=["results/tiny/fold1/geng/values.parquet"],  # on tiny
    output:
        f0_parquet="results/{dataset}/figures/geng-fig8.parquet",
        f0_pdf="results/{dataset}/figures/geng-fig8.pdf",
        f0_svg=report("results/{dataset}/figures/geng-fig8.svg"),
        f1_parquet="results/{dataset}/figures/geng-fig9.parquet",
        f1_pdf="results/{dataset}/figures/geng-fig9.pdf",
        f1_svg=report("results/{dataset}/figures/geng-fig9.svg"),
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15, 0),
    params:
        call="qdrank.studies.drawing:draw_figures",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={'lam': 0.01},
        makes=["qdrank.studies.geng2008.figures:draw_neighbours", "qdrank.studies.geng2008.figures:draw_ratios"],
        dpi=150,
    script:
        "../../scripts/run_step.py"

rule draw_geng_bound:
    """Geng 2008: Theorem 1: stability bound."""
    input:
        bounds=["results/tiny/fold1/geng/bound.parquet"],  # on tiny
    output:
        f0_parquet="results/{dataset}/figures/geng-bound.parquet",
        f0_pdf="results/{dataset}/figures/geng-bound.pdf",
        f0_svg=report("results/{dataset}/figures/geng-bound.svg"),
    wildcard_constraints:
        dataset="tiny",
    resources:
        mem_mb=memory(700, 7.5),
        runtime=minutes(15, 0),
    params:
        call="qdrank.studies.drawing:draw_figures",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        makes=["qdrank.studies.geng2008.figures:draw_bound"],
        dpi=150,
    script:
        "../../scripts/run_step.py"

rule tabulate_geng_methods:
    """Geng 2008: methods; methods by fold; tests of Figure 7; classes for QC."""
    input:
        measures="results/{dataset}/geng/measures.parquet",
        choices=["results/tiny/fold1/choices/geng.parquet"],  # on tiny
        lambdamart=["results/tiny/fold1/choices/lambdamart.parquet"],  # on tiny
        **{"lambdamart-vectors": ["results/tiny/fold1/choices/lambdamart-vectors.parquet"]},  # on tiny
        classes=["results/tiny/fold1/classes.parquet"],  # on tiny
    output:
        t0_parquet="results/{dataset}/tables/geng-methods.parquet",
        t0_csv="results/{dataset}/tables/geng-methods.csv",
        t0_md="results/{dataset}/tables/geng-methods.md",
        t0_tex="results/{dataset}/tables/geng-methods.tex",
        t0_html=report("results/{dataset}/tables/geng-methods.html"),
        t1_parquet="results/{dataset}/tables/geng-folds.parquet",
        t1_csv="results/{dataset}/tables/geng-folds.csv",
        t1_md="results/{dataset}/tables/geng-folds.md",
        t1_tex="results/{dataset}/tables/geng-folds.tex",
        t1_html=report("results/{dataset}/tables/geng-folds.html"),
        t2_parquet="results/{dataset}/tables/geng-tests.parquet",
        t2_csv="results/{dataset}/tables/geng-tests.csv",
        t2_md="results/{dataset}/tables/geng-tests.md",
        t2_tex="results/{dataset}/tables/geng-tests.tex",
        t2_html=report("results/{dataset}/tables/geng-tests.html"),
        t3_parquet="results/{dataset}/tables/geng-qc.parquet",
        t3_csv="results/{dataset}/tables/geng-qc.csv",
        t3_md="results/{dataset}/tables/geng-qc.md",
        t3_tex="results/{dataset}/tables/geng-qc.tex",
        t3_html=report("results/{dataset}/tables/geng-qc.html"),
    wildcard_constraints:
        dataset="tiny",
    priority: 1
    resources:
        mem_mb=memory(800, 7.5),
        runtime=minutes(30, 0.5),
    params:
        call="qdrank.studies.tabulating:make_tables",
        make="qdrank.studies.geng2008.tables:tabulate",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        titles={'geng-methods': 'methods', 'geng-folds': 'methods by fold', 'geng-tests': 'KNN against Single and QC, mean NDCG', 'geng-qc': 'classes for QC, test queries'},
    script:
        "../../scripts/run_step.py"

rule tabulate_geng_table1:
    """Geng 2008: Table 1: time of testing."""
    input:
        times="results/{dataset}/geng/table1-times.parquet",
    output:
        t0_parquet="results/{dataset}/tables/geng-table1.parquet",
        t0_csv="results/{dataset}/tables/geng-table1.csv",
        t0_md="results/{dataset}/tables/geng-table1.md",
        t0_tex="results/{dataset}/tables/geng-table1.tex",
        t0_html=report("results/{dataset}/tables/geng-table1.html"),
    wildcard_constraints:
        dataset="tiny",
    priority: 1
    resources:
        mem_mb=memory(800, 7.5),
        runtime=minutes(30, 0.5),
    params:
        call="qdrank.studies.tabulating:make_tables",
        make="qdrank.studies.geng2008.tables:tabulate_times",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        titles={'geng-table1': 'time of testing, one thread'},
    script:
        "../../scripts/run_step.py"

rule tabulate_geng_variants:
    """Geng 2008: variants of KNN Online."""
    input:
        values=["results/tiny/fold1/geng/variants.parquet"],  # on tiny
    output:
        t0_parquet="results/{dataset}/tables/geng-variants.parquet",
        t0_csv="results/{dataset}/tables/geng-variants.csv",
        t0_md="results/{dataset}/tables/geng-variants.md",
        t0_tex="results/{dataset}/tables/geng-variants.tex",
        t0_html=report("results/{dataset}/tables/geng-variants.html"),
    wildcard_constraints:
        dataset="tiny",
    priority: 1
    resources:
        mem_mb=memory(800, 7.5),
        runtime=minutes(30, 0.5),
    params:
        call="qdrank.studies.tabulating:make_tables",
        make="qdrank.studies.geng2008.tables:tabulate_variants",
        title="A tiny simulated set",  # on tiny
        folds=["fold1"],  # on tiny
        interval={'level': 0.95, 'resamples': 200, 'seed': 1},
        options={},
        titles={'geng-variants': 'variants of KNN Online'},
    script:
        "../../scripts/run_step.py"
