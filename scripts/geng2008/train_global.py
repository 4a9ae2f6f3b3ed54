"""Models of all training queries and of classes of queries."""

from qdrank.queries.artifacts import load_queries
from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.geng2008.global_models import train_global
from qdrank.studies.geng2008.query_classes import query_classes
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, queries = snakemake.params, load_queries(snakemake.input.queries)
    classes = query_classes(
        queries,
        read(snakemake.input.topics, "topics"),
        n_classes=params.n_classes,
        seed=params.seed,
    )
    log.info("classes: %s", classes.origin)
    write(snakemake.output.classes, CLASSES_SHAPE, classes.to_table(queries))
    documents = load_fold(snakemake.input.judged, snakemake.wildcards.fold, params.scale, wanted=["train"])
    models = train_global(
        documents, classes.true[queries.is_train], params.lambdas, tol=params.tol, penalty=params.penalty
    )
    write(snakemake.output.models, "models", models)
