"""Variants of KNN Online of one kind on a fold."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import VectorOptions, load_queries
from qdrank.rankers.documents import fold_documents
from qdrank.store import read, write
from qdrank.studies.geng2008.fold import chosen_settings
from qdrank.studies.geng2008.variants import Variants, compare_variants
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params, fold = snakemake.input, snakemake.params, snakemake.wildcards.fold
    setting = chosen_settings(read(files.choices, "choices"))[fold, "knn-online"]
    log.info("as chosen for KNN Online: %s", setting.text)
    judged = load_judged(files.judged, ["features"])
    variants = Variants(
        judged=judged,
        topics=read(files.topics, "topics"),
        queries=load_queries(files.queries),
        fold=fold,
        k=setting.k,
        reference=reference_column(files.columns),
        vectors=VectorOptions(**params.vectors),
        metric=params.metric,
        clusters=params.clusters,
        seed=params.seed,
        most=params.most,
    )
    table = compare_variants(
        fold,
        fold_documents(judged, fold, params.scale),
        variants.of(snakemake.wildcards.kind),
        variants.knn_online,
        setting,
        block=params.block,
        tol=params.tol,
        penalty=params.penalty,
        most=params.most,
    )
    write(snakemake.output[0], "measures", table)
