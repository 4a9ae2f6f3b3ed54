"""Indexing, retrieval and features: time and memory, beside bm25s on the same data in the same run.

    python bench/bench_text.py [--documents 1000000] [--queries 10000] [--mirror FOLDER]

Times are CPU seconds of this process, so that a busy machine disturbs them little; read them as ratios within one run.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from qdrank.datasets.collections.beir import read_nfcorpus
from qdrank.datasets.collections.model import Documents, JudgedPairs
from qdrank.text.analyser import Analyser
from qdrank.text.extract import TextSettings, judged_text
from qdrank.text.index import AnalysedQueries, analyse_queries, build_index
from qdrank.text.rank_features import column_names, feature_values
from qdrank.text.retrieve import BM25, bm25_weights, find_candidates, retrieve

N_TERMS, VOCABULARY, N_TOP = 60, 200_000, 100
PLAIN = Analyser(stemmer="none", stop_words="none", unicode="none")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB"


def zipf_texts(n: int, length: int, rng: np.random.Generator, *, skip: int = 0) -> list[str]:
    """Texts of Zipf-distributed words; ``skip`` leaves the most frequent ones out, as a stop list does for queries."""
    chance = 1.0 / np.arange(1 + skip, VOCABULARY + 1)
    steps = np.cumsum(chance / chance.sum())
    words = np.array([f"t{i}" for i in range(skip, VOCABULARY)], dtype=object)
    texts = []
    for start in range(0, n, 50_000):
        ids = np.searchsorted(steps, rng.random((min(50_000, n - start), length)))
        texts += [" ".join(row) for row in words[np.minimum(ids, len(words) - 1)]]
    return texts


def row(name: str, ours: float | None, theirs: float | None = None) -> None:
    ratio = f"{theirs / ours:.2f}" if ours and theirs else ""
    cells = ["" if value is None else f"{value:.1f}" for value in (ours, theirs)]
    print(f"| {name} | {cells[0]} | {cells[1]} | {ratio} | {peak()} |", flush=True)


def bench_generated(n_documents: int, n_queries: int, *, with_bm25s: bool) -> None:
    rng = np.random.default_rng(0)
    bodies = zipf_texts(n_documents, N_TERMS, rng)
    queries = zipf_texts(n_queries, 3, rng, skip=20)
    row(f"generate {n_documents:,} x {N_TERMS} terms, {n_queries:,} queries", None)
    documents = Documents([f"d{i:07}" for i in range(n_documents)], {"body": bodies})
    retrieve(*_small())  # compile before the clock runs
    index, indexing = timed(lambda: build_index(documents, PLAIN))
    row("qdrank alone: index", indexing)
    weights, weighing = timed(lambda: bm25_weights(index.main, BM25()))
    row("qdrank alone: weights of the postings", weighing)
    asked = analyse_queries(index, queries)
    ranking, retrieving = timed(lambda: retrieve(index.main, asked, n_top=N_TOP, weights=weights))
    row(f"qdrank alone: top {N_TOP}", retrieving)
    nothing = np.zeros(0, dtype=np.int64)
    pairs = find_candidates(ranking, JudgedPairs(nothing, nothing, nothing), n_documents)
    names = column_names(index, ("letor25", "extra"))
    _, computing = timed(lambda: feature_values(index, asked, pairs, names))
    row(f"qdrank alone: {len(names)} features of {len(pairs.query):,} pairs", computing)
    if with_bm25s:
        _against_bm25s(bodies, queries, ranking.score, indexing + weighing, retrieving)


def _small() -> tuple[Any, AnalysedQueries]:
    index = build_index(Documents(["a"], {"body": ["x"]}), PLAIN)
    return index.main, analyse_queries(index, ["x"])


def _against_bm25s(
    bodies: list[str], queries: list[str], scores: np.ndarray, indexing: float, retrieving: float
) -> None:
    def index_theirs() -> bm25s.BM25:
        tokens = bm25s.tokenize(bodies, stopwords=None, show_progress=False)
        found = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
        found.index(tokens, show_progress=False)
        return found

    theirs, indexing_theirs = timed(index_theirs)
    row("index from texts (split, count, weigh)", indexing, indexing_theirs)
    asked = bm25s.tokenize(queries, stopwords=None, show_progress=False, return_ids=False)
    theirs.retrieve(asked[:1], k=N_TOP, show_progress=False, n_threads=1)
    (_, found), retrieving_theirs = timed(lambda: theirs.retrieve(asked, k=N_TOP, show_progress=False, n_threads=1))
    row(f"top {N_TOP} of all queries", retrieving, retrieving_theirs)
    print(f"\nLargest relative difference of scores: {np.abs(found - scores).max() / scores.max():.1e}")


def bench_nfcorpus(mirror: Path) -> None:
    collection, reading = timed(lambda: read_nfcorpus(mirror / "raw/nfcorpus"))
    judged_text(collection, TextSettings(n_top=1))  # compile before the clock runs
    found, working = timed(lambda: judged_text(collection))
    row("NFCorpus: read", reading)
    row(f"NFCorpus: index, candidates, 39 features of {found.judged.num_rows:,} pairs", working)
    latent, with_lsa = timed(lambda: judged_text(collection, TextSettings(lsa=50)))
    row(f"NFCorpus: the same with {len(latent.topic_columns) - 8} latent columns", with_lsa)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--without-bm25s", action="store_true", help="so that the memory is qdrank's alone")
    parser.add_argument("--mirror", type=Path, default=os.environ.get("QDRANK_MIRROR"))
    args = parser.parse_args()
    print("| work | qdrank, CPU s | bm25s, CPU s | bm25s / qdrank | peak memory so far |\n|---|---|---|---|---|")
    if args.mirror:
        bench_nfcorpus(args.mirror)
    bench_generated(args.documents, args.queries, with_bm25s=not args.without_bm25s)


if __name__ == "__main__":
    main()
