"""First stages of a text collection as runs, nothing tuned: BM25, RM3 on it, latent semantic analysis, an encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from qdrank.datasets.collections.model import Collection, judged_queries_of
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.text.encoder_search import search
from qdrank.text.encoding import TextVectors
from qdrank.text.expansion import Feedback, expanded_queries
from qdrank.text.index import AnalysedQueries, FieldIndex, analyse_queries, build_index
from qdrank.text.retrieve import BM25, RankedDocuments, best_documents, retrieve
from qdrank.text.topics import latent_space

FIRST_RUNS = ("bm25", "rm3", "lsa")
#: What an encoder finds, where there is one.
DENSE = "dense"
_DIMENSIONS = 100
#: Cosines of queries and documents held at a time.
_COSINES = 20_000_000


def first_runs(
    collection: Collection, methods: Sequence[str], depth: int, vectors: TextVectors | None = None
) -> Iterator[Run]:
    """The judged queries' best documents by each of `FIRST_RUNS`, with the settings that the library has by default.

    Parameters
    ----------
    methods : some of `FIRST_RUNS` and, with ``vectors`` of the collection, `DENSE`; each a run with that tag
    depth : most documents of a query
    """
    index = build_index(collection.documents)
    field, ids = index.field("both"), np.array(index.doc_id, dtype=object)
    asked = judged_queries_of(collection)
    names = np.array([query.query_id for query in asked], dtype=object)
    words = analyse_queries(index, [query.text for query in asked])
    first = retrieve(field, words, BM25(), n_top=max(depth, Feedback().documents))
    for method in methods:
        if method == "bm25":
            best = first
        elif method == "rm3":
            best = retrieve(field, expanded_queries(field, words, first, Feedback()), BM25(), n_top=depth)
        elif method == DENSE:
            assert vectors is not None, "the caller encodes"
            best = search(vectors.of_queries(names), vectors.documents, depth)
        else:
            best = _latent(field, words, depth)
        row, place = np.nonzero(best.document[:, :depth] >= 0)
        yield Run(names[row], ids[best.document[row, place]], best.score[row, place], method, "first stage")


def _latent(field: FieldIndex, words: AnalysedQueries, depth: int) -> RankedDocuments:
    """Best documents by the cosine in a latent space of 100 dimensions."""
    space = latent_space(field, _DIMENSIONS)
    size = max(1, _COSINES // max(1, field.n_documents))
    blocks = [
        best_documents(space.cosines(field, words.counts[a : a + size]), depth) for a in range(0, len(words), size)
    ]
    return RankedDocuments(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def judgments_of(collection: Collection) -> Qrels:
    """The judgments with ids in place of row numbers."""
    qrels = collection.qrels
    names = np.array([query.query_id for query in collection.queries], dtype=object)
    ids = np.array(collection.documents.doc_id, dtype=object)
    return Qrels(names[qrels.query], ids[qrels.document], qrels.grade, "judgments of a collection")
