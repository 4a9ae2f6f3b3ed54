"""The first stage against another implementation and against published figures, on real collections."""

import bm25s
import numpy as np
import pytest

from qdrank.datasets.collections.beir import read_nfcorpus, read_scifact
from qdrank.datasets.collections.model import Collection
from qdrank.datasets.collections.smart import read_smart
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.retrieve import BM25, retrieve

pytestmark = pytest.mark.mirror


def collection_of(mirror, name: str) -> Collection:
    if name == "nfcorpus":
        return read_nfcorpus(mirror / "raw" / "nfcorpus", qrels="beir")
    if name == "scifact":
        return read_scifact(mirror / "raw" / "scifact")
    return read_smart(mirror / "raw" / name, name)


@pytest.mark.parametrize("name", ["cranfield", "cisi", "nfcorpus"])
def test_bm25s_gives_the_same_run(mirror, name):
    """Same words, same constants: scores to 1e-4 at every rank, and the same documents but for equal scores."""
    collection = collection_of(mirror, name)
    index = build_index(collection.documents, Analyser())
    queries = analyse_queries(index, [query.text for query in collection.queries])
    ranking = retrieve(index.main, queries, BM25(variant="lucene", k1=0.9, b=0.4), n_top=1000)
    counts = index.main.counts
    rows = [
        np.repeat(counts.indices[a:b], counts.data[a:b]).tolist()
        for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    ]
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    peer.index([[f"t{term}" for term in row] for row in rows], show_progress=False)
    asked = queries.counts
    for query in range(len(queries)):
        own = slice(asked.indptr[query], asked.indptr[query + 1])
        words = [f"t{term}" for term, n in zip(asked.indices[own], asked.data[own], strict=True) for _ in range(n)]
        if not words:
            continue
        scores = peer.get_scores(words)
        size = int(ranking.size[query])
        best = np.sort(scores)[::-1][:size]
        assert np.allclose(ranking.score[query, :size], best, atol=1e-4, rtol=0)
        assert np.allclose(scores[ranking.document[query, :size]], best, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("name", "asked", "published"),
    [("nfcorpus", 323, (0.3218, 0.2457, 0.3704)), ("scifact", 300, (0.6789, 0.9253, 0.9767))],
)
def test_anserinis_figures(mirror, name, asked, published):
    """Anserini's regressions "beir-v1.0.0-{name}-flat" (k1 .9, b .4, 1,000 hits): nDCG@10, R@100, R@1000.

    These three, and no MAP, are in castorini/anserini, docs/regressions/regressions-beir-v1.0.0-{name}-flat.md.
    Its analyser has Porter's stemmer and Lucene's stop words, and keeps lengths in one byte, so the third digit may differ.
    """
    collection = collection_of(mirror, name)
    index = build_index(collection.documents, Analyser(stemmer="porter", stop_words="lucene"))
    test = [row for row, query in enumerate(collection.queries) if query.split == "test"]
    queries = analyse_queries(index, [collection.queries[row].text for row in test])
    ranking = retrieve(index.main, queries, BM25(variant="lucene", k1=0.9, b=0.4), n_top=1000)
    grades: dict[int, dict[int, int]] = {row: {} for row in test}
    for query, document, grade in zip(
        *(c.tolist() for c in (collection.qrels.query, collection.qrels.document, collection.qrels.grade)), strict=True
    ):
        if query in grades and grade > 0:
            grades[query][document] = grade
    ndcg, shallow, deep = [], [], []
    for place, row in enumerate(test):
        run = ranking.document[place, : ranking.size[place]].tolist()
        discount = 1 / np.log2(np.arange(2, 12))
        gains = np.array([grades[row].get(document, 0) for document in run[:10]])
        ideal = np.array(sorted(grades[row].values(), reverse=True)[:10])
        ndcg.append(float(gains @ discount[: len(gains)]) / float(ideal @ discount[: len(ideal)]))
        shallow.append(len(grades[row].keys() & set(run[:100])) / len(grades[row]))
        deep.append(len(grades[row].keys() & set(run)) / len(grades[row]))
    assert len(test) == asked
    ours = tuple(float(np.mean(values)) for values in (ndcg, shallow, deep))
    assert ours == pytest.approx(published, abs=0.01)
