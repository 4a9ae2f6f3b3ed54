"""The methods of a fold as rankers for new queries."""

from qdrank.datasets.judged import load_judged
from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.queries.fitted import load_metric
from qdrank.queries.recipe import load_document_vectors, topics_of
from qdrank.rankers.documents import fold_documents
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import read
from qdrank.studies.geng2008.fold import chosen_settings
from qdrank.studies.geng2008.global_models import GlobalModels
from qdrank.studies.geng2008.local_models import ModelBank
from qdrank.studies.geng2008.options import Options
from qdrank.studies.geng2008.query_classes import Classes
from qdrank.studies.geng2008.rankers import FoldRankers
from qdrank.studies.geng2008.shapes import CLASSES_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params, fold = snakemake.input, snakemake.params, snakemake.wildcards.fold
    judged, topics = load_judged(files.judged, ["features"]), read(files.topics, "topics")
    documents, queries = fold_documents(judged, fold, params.scale), load_queries(files.queries)
    recipe = load_document_vectors(files, params.queries, missing=documents.fill is not None)
    train = judged.of_role(fold, "train")
    recipe.refuse_others(train, topics_of(topics, train.query_id.tolist())[0], queries.vectors[queries.is_train])
    rankers = FoldRankers(
        documents=documents,
        queries=queries,
        nearest=load_neighbours(files.neighbours)[1],
        topics=topics,
        fitted=load_metric(files.metric),
        whole=GlobalModels(read(files.whole, "models")),
        local=ModelBank(read(files.local, "local_models")),
        classes=Classes.from_table(read(files.classes, CLASSES_SHAPE)),
        options=Options(**params.geng),
        recipe=recipe,
        **params.training,
    )
    view = documents.view(scaled=False)
    for (_, method), setting in chosen_settings(read(files.choices, "choices")).items():
        log.info("%s: %s", method, setting.text)
        ranker, vectors = rankers.ranker(method, setting)
        served = ServedRanker(
            method=method, study="geng2008", fold=fold, documents=view, queries=vectors, ranker=ranker
        )
        write_ranker(snakemake.output[method], served)
