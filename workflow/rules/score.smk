# Scores: what each method says of every test document.
#
# reads:  results/{dataset}/judged.parquet, columns.parquet; for text also the collection
# writes: results/{dataset}/{fold}/scores/{method}.parquet         query, document, score
#         results/{dataset}/{fold}/served/{method}.parquet         the same methods for `qdrank rank`
#         results/{dataset}/{fold}/first_stages.parquet    settings of BM25 and RM3 tried on validation

from qdrank.rankers import DENSE, FIRST_STAGES

WITH_FEATURES = planned.of_kind("letor", "agg", "simulated")


for _name, _folds in run.by_folds("score_reference", WITH_FEATURES).items():

    rule:
        """The reference feature alone: the ranking that every method starts from."""
        name:
            _name
        input:
            judged="results/{dataset}/judged.parquet",
            columns="results/{dataset}/columns.parquet",
        output:
            scores=_folds.each("results/{dataset}/{fold}/scores/reference.parquet"),
            served=_folds.each("results/{dataset}/{fold}/served/reference.parquet"),
        wildcard_constraints:
            dataset=names_pattern(_folds.datasets),
        resources:
            mem_mb=memory(500, 1.4),
            runtime=minutes(15, 0.05),
        params:
            call="qdrank.rankers.served:write_reference",
        script:
            "../../scripts/run_step.py"


rule retrieve:
    """First stages of a text set: the one that brought the candidates, BM25 tuned on validation, and RM3 on it."""
    input:
        collection=files.collection,
        judged="results/{dataset}/judged.parquet",
    output:
        **{
            f"{kind}{name}": f"results/{{dataset}}/{{fold}}/{folder}/{name}.parquet"
            for kind, folder in (("", "scores"), ("served_", "served"))
            for name in FIRST_STAGES
            if name != DENSE
        },
        choices="results/{dataset}/{fold}/first_stages.parquet",
    wildcard_constraints:
        dataset=names_pattern(planned.of_kind("text")),
    resources:
        mem_mb=memory(2000, 2),
        runtime=minutes(30, 0.2),
    params:
        call="qdrank.rankers.first_stage:write_first_stages",
        options=lambda wc: dict(planned.datasets[wc.dataset].options),
        settings=settings.text.model_dump(),
        measure=settings.learners.measure,
        seed=settings.seed,
    script:
        "../../scripts/run_step.py"
