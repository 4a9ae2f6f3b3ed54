"""A small simulated fold with all that the methods of Geng 2008 need, trained once for the tests."""

from functools import cache

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.features import REFERENCE, simulate
from qdrank.queries.graph import GraphOptions, neighbours_table
from qdrank.queries.metrics import Euclidean
from qdrank.queries.recipe import Queries, VectorOptions, describe_queries
from qdrank.rankers.documents import fold_documents
from qdrank.store.tables import list_matrix
from qdrank.studies.geng2008.class_ranker import guess_classes
from qdrank.studies.geng2008.fold import FoldModels
from qdrank.studies.geng2008.global_models import global_weights, train_global
from qdrank.studies.geng2008.local_models import ModelBank, gathered, neighbourhoods, train_shard
from qdrank.studies.geng2008.methods import Options
from qdrank.studies.geng2008.offline import OfflineModels, offline_table

VECTORS = VectorOptions(top=50, pooling="mean", view="given", query_columns=False, scale="zscore")
GENG = Options(
    ks=[0.1, 0.3, 0.6, 1],
    lam=0.01,
    choose="validation",
    k=0.3,
    candidates=[0.3, 0.6],
    lambdas=[0.1, 0.01],
    controls=["equal", "random"],
)
BLOCK, TOL, SEED = 8, 1e-6, 3


@cache
def world():
    """Judged documents, topics, queries and their neighbours."""
    data = simulate("sim1", SEED, train=24, vali=8, test=9, features=6, documents=(8, 12))
    ids = data.query_id.astype(object)
    judged = Judged(
        ids, data.query_part.astype(object), data.offsets, data.document.astype(object), data.y.astype(np.int64), data.X
    )
    topics = pa.table(
        {
            "query_id": pa.array(ids, pa.string()),
            "part": pa.array(data.query_part.astype(object), pa.string()),
            "text": pa.array([None] * len(ids), pa.string()),
            "type": pa.array(data.types.astype(object), pa.string()),
            "query_columns": pa.array(data.query_columns.astype(np.float64).tolist(), pa.list_(pa.float64())),
        }
    )
    table, _ = describe_queries(judged, topics, REFERENCE, "fold1", VECTORS)
    texts = {name: table.column(name).to_numpy(zero_copy_only=False) for name in ("query_id", "role", "type")}
    index = table.column("train_index").to_numpy()
    queries = Queries(**texts, train_index=index, vectors=list_matrix(table.column("vector")))
    near, _ = neighbours_table(queries, GraphOptions(metric="euclidean", largest=None, search="brute"))
    return judged, topics, queries, list_matrix(near.column("neighbours"))


def shard(number, n_shards, block=BLOCK):
    judged, _, queries, nearest = world()
    wanted = neighbourhoods(queries, nearest, GENG, SEED)
    documents = fold_documents(judged, "fold1")
    return train_shard(documents, queries, wanted, shard=number, n_shards=n_shards, block=block, tol=TOL)


@cache
def study():
    """The fold with its models."""
    judged, topics, queries, nearest = world()
    documents = fold_documents(judged, "fold1")
    classes, guessers = guess_classes(queries, topics, seed=SEED)
    whole = train_global(documents, classes.true[queries.is_train], [0.1, 0.01], tol=TOL)
    return FoldModels(
        documents=documents,
        queries=queries,
        nearest=nearest,
        offline=OfflineModels(offline_table(queries, nearest, documents.parts["train"].pairs, GENG)),
        local=ModelBank(gathered([shard(0, 1)], queries.query_id)),
        whole=global_weights(whole),
        guessers=guessers,
        metric="euclidean",
        fitted=Euclidean(),
        tol=TOL,
        options=GENG,
        seed=1,
    )
