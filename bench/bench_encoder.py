"""An encoder beside a bare loop of onnxruntime, and exact search by vectors beside the plain matrix product.

    python bench/bench_encoder.py [--documents 1000000] [--queries 1000] [--top 1000] [--mirror FOLDER] [--torch FOLDER]

Times are CPU seconds of this process; read them as ratios within one run. Without a mirror only the search is measured. ``--torch``
is a folder with the same encoder's weights for torch, where sentence-transformers is installed, which the project does not need.
"""

from __future__ import annotations

import argparse
import os
import resource
from pathlib import Path

import numpy as np

from qdrank.datasets.collections.forms import read_collection
from qdrank.jobs import seconds
from qdrank.text.encoder import Encoder, Vectors, batches, encoder_form
from qdrank.text.encoder_search import search

WIDTH, BLOCK = 384, 1 << 15


def unit_vectors(n: int, seed: int) -> Vectors:
    rng = np.random.default_rng(seed)
    vectors = np.empty((n, WIDTH), dtype=np.float32)
    for start in range(0, n, BLOCK):
        drawn = rng.standard_normal((min(BLOCK, n - start), WIDTH), dtype=np.float32)
        vectors[start : start + BLOCK] = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return vectors


def searching(n_documents: int, n_queries: int, n_top: int) -> None:
    documents, queries = unit_vectors(n_documents, 1), unit_vectors(n_queries, 2)

    def product() -> None:
        for start in range(0, n_documents, BLOCK):
            queries @ documents[start : start + BLOCK].T

    ours, plain = seconds(lambda: search(queries, documents, n_top), 1), seconds(product, 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"search, {n_queries:,} queries, {n_documents:,} x {WIDTH}, best {n_top:,}: {ours:.1f} s, product {plain:.1f} s,"
    )
    print(
        f"  ratio {plain / ours:.2f}, peak {memory:.2f} GiB, of it {documents.nbytes / 2**30:.2f} the vectors",
        flush=True,
    )


def by_torch(folder: Path, texts: list[str], ours: Vectors) -> float:
    """Seconds of sentence-transformers on one thread, for the same vectors."""
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = 256
    np.testing.assert_allclose(model.encode(texts, normalize_embeddings=True), ours, atol=1e-5)
    return seconds(lambda: model.encode(texts, batch_size=32, normalize_embeddings=True))


def encoding(mirror: Path, torch: Path | None, n_texts: int = 300) -> None:
    encoder = Encoder(encoder_form(mirror / "encoders" / "all-MiniLM-L6-v2"))
    collection = read_collection("cranfield", mirror / "raw" / "cranfield")
    for what, texts in (
        ("queries", [query.text for query in collection.queries][:n_texts]),
        ("documents", collection.documents.fields["body"][: n_texts // 3]),
    ):
        tokens = encoder._tokenizer.encode_batch_fast(texts)
        lengths = np.array([len(one) for one in tokens])
        order = np.argsort(lengths, kind="stable")
        given = [encoder.inputs([tokens[row] for row in rows]) for rows in batches(lengths, order)]

        def bare(given: list[dict[str, np.ndarray]] = given) -> None:
            for one in given:
                encoder._session.run(None, one)

        ours, theirs = seconds(lambda texts=texts: encoder.encode(texts, "documents")), seconds(bare)
        rate = len(texts) / ours
        print(
            f"encoding {len(texts)} {what}, {lengths.mean():.0f} tokens: {rate:.0f} a second, ratio {theirs / ours:.2f}"
        )
        if torch:
            beside = by_torch(torch, texts, encoder.encode(texts, "documents")) / ours
            print(f"  sentence-transformers takes {beside:.2f} times as long", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--top", type=int, default=1000)
    parser.add_argument("--mirror", type=Path, default=os.environ.get("QDRANK_MIRROR"))
    parser.add_argument("--torch", type=Path)
    args = parser.parse_args()
    if args.mirror:
        encoding(Path(args.mirror), args.torch)
    searching(args.documents, args.queries, args.top)


if __name__ == "__main__":
    main()
