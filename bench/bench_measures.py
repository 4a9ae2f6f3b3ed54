"""Speed of the measures: 30,000 queries of 120 documents, beside plain Python and scikit-learn on a sample.

Run with ``python bench/bench_measures.py``; prints a table. Times of one run compare with each other only.
"""

from __future__ import annotations

import sys
from math import log2
from time import perf_counter

import numpy as np

from qdrank.measures import CONVENTIONS, MEASURES
from qdrank.measures.compute import average_precision, measure, ndcg

N_QUERIES, N_DOCUMENTS, N_SAMPLE, N_FEATURES = 30_000, 120, 300, 46


def data(n_queries: int):
    rng = np.random.default_rng(0)
    y = rng.choice(5, (n_queries, N_DOCUMENTS), p=[0.5, 0.3, 0.13, 0.05, 0.02])
    return y.ravel(), rng.normal(y, 2.0).ravel(), np.arange(n_queries + 1) * N_DOCUMENTS


def best_of(call, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


def naive_ndcg_and_ap(y, scores) -> tuple[float, float]:
    """NDCG@10 and average precision as one writes them first."""
    grades = [g for _, g in sorted(zip(scores, y, strict=True), key=lambda pair: -pair[0])]
    dcg = sum((2**g - 1) / log2(j + 2) for j, g in enumerate(grades[:10]))
    best = sum((2**g - 1) / log2(j + 2) for j, g in enumerate(sorted(y, reverse=True)[:10]))
    hits, total = 0, 0.0
    for j, g in enumerate(grades, 1):
        if g > 0:
            hits += 1
            total += hits / j
    return (dcg / best if best else 0.0), (total / hits if hits else 0.0)


def naive(y, scores) -> list[tuple[float, float]]:
    rows = y.reshape(-1, N_DOCUMENTS).tolist(), scores.reshape(-1, N_DOCUMENTS).tolist()
    return [naive_ndcg_and_ap(*row) for row in zip(*rows, strict=True)]


def scikit_learn(y, scores) -> list[float]:
    from sklearn.metrics import ndcg_score

    gains, columns = 2.0 ** y.reshape(-1, 1, N_DOCUMENTS) - 1, scores.reshape(-1, 1, N_DOCUMENTS)
    return [ndcg_score(gain, column, k=10) for gain, column in zip(gains, columns, strict=True)]


def scikit_learn_at_once(y, scores) -> float:
    from sklearn.metrics import ndcg_score

    return ndcg_score(2.0 ** y.reshape(-1, N_DOCUMENTS) - 1, scores.reshape(-1, N_DOCUMENTS), k=10, ignore_ties=True)


def main() -> None:
    y, scores, offsets = data(N_QUERIES)
    ids = np.char.add("d", np.arange(len(y)).astype(str))
    row_order = [name.replace("@k", f"@{k}") for name in MEASURES for k in range(1, 11) if not name.endswith("/trec")]
    everything = [name.replace("@k", f"@{k}") for name in MEASURES for k in range(1, 11)]
    measure(everything, y[:240], scores[:240], offsets[:3], doc_ids=ids[:240])  # compile

    print(f"{N_QUERIES:,} queries of {N_DOCUMENTS} documents, one thread\n")
    print("| what | seconds |\n|---|---:|")
    print(f"| ap | {best_of(lambda: average_precision(y, scores, offsets)):.2f} |")
    print(f"| ndcg@10/exp | {best_of(lambda: ndcg(y, scores, offsets)):.2f} |")
    letor4 = CONVENTIONS["letor4"]
    print(f"| the {len(letor4)} of letor4 | {best_of(lambda: measure(letor4, y, scores, offsets)):.2f} |")
    n = len(dict.fromkeys(row_order))
    print(f"| all {n} with ties in row order | {best_of(lambda: measure(row_order, y, scores, offsets)):.2f} |")
    n = len(dict.fromkeys(everything))
    seconds = best_of(lambda: measure(everything, y, scores, offsets, doc_ids=ids), repeats=1)
    print(f"| all {n}, those with ties by document id among them | {seconds:.2f} |")

    y, scores, offsets = data(N_SAMPLE * 10)
    X = np.random.default_rng(1).random((len(y), N_FEATURES), dtype=np.float32)
    seconds = best_of(lambda: measure(letor4, y, X, offsets))
    print(f"| letor4 of {N_FEATURES} features, {N_SAMPLE * 10:,} queries | {seconds:.2f} |")

    y, scores, offsets = data(N_SAMPLE)
    ours = best_of(lambda: measure(["ndcg@10/exp", "ap"], y, scores, offsets), repeats=20)
    expected = np.array(naive(y, scores)).mean(axis=0)
    found = [column.mean() for column in measure(["ndcg@10/exp", "ap"], y, scores, offsets).values()]
    np.testing.assert_allclose(found, expected)
    only = best_of(lambda: ndcg(y, scores, offsets), repeats=20)
    print(f"\n{N_SAMPLE} queries, same values\n\n| against | times faster |\n|---|---:|")
    print(f"| plain Python, ndcg@10 and ap | {best_of(lambda: naive(y, scores)) / ours:.0f} |")
    print(f"| scikit-learn's ndcg_score, query by query | {best_of(lambda: scikit_learn(y, scores)) / only:.0f} |")
    at_once = best_of(lambda: scikit_learn_at_once(y, scores), repeats=5) / only
    print(f"| the same, all queries at once, ties ignored (mean only, equal lists) | {at_once:.1f} |")


if __name__ == "__main__":
    sys.exit(main())
