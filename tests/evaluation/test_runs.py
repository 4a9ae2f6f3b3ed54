"""Runs against pooled judgments: trec_eval's definitions, written out for one query at a time."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.datasets.trec import Qrels, Run
from qdrank.errors import InputError
from qdrank.evaluation.runs import measure_run

DOCS = [f"d{i}" for i in range(9)]
NAMES = ["ap/trec", "rr/trec", "p@5/trec", "ndcg@5/trec", "ndcg/trec"]


def by_trec_eval(judged, scored):
    ranked = sorted(scored, key=lambda doc: (np.float32(scored[doc]), doc), reverse=True)
    gains = [max(judged.get(doc, 0), 0) for doc in ranked]
    ideal = sorted((grade for grade in judged.values() if grade > 0), reverse=True)
    relevant = [j for j, gain in enumerate(gains, 1) if gain > 0]

    def dcg(grades):
        return sum(gain / log2(j + 1) for j, gain in enumerate(grades, 1))

    return {
        "ap/trec": sum(i / j for i, j in enumerate(relevant, 1)) / len(ideal) if ideal else 0.0,
        "rr/trec": 1 / relevant[0] if relevant else 0.0,
        "p@5/trec": sum(j <= 5 for j in relevant) / 5,
        "ndcg@5/trec": dcg(gains[:5]) / dcg(ideal[:5]) if ideal else 0.0,
        "ndcg/trec": dcg(gains) / dcg(ideal) if ideal else 0.0,
    }


def arrays(by_query):
    rows = [(query, doc, value) for query, docs in by_query.items() for doc, value in docs.items()]
    return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]


def run_of(scored):
    query, doc, score = arrays(scored)
    return Run(query, doc, score.astype(float), "t")


def qrels_of(judged):
    query, doc, grade = arrays(judged)
    return Qrels(query, doc, grade.astype(int))


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 3), min_size=1), min_size=1
    ),
    st.dictionaries(
        st.sampled_from("abcx"), st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), min_size=1), min_size=1
    ),
)
def test_a_run_is_measured_as_trec_eval_does(judged, scored):
    if not judged.keys() & scored.keys():
        with pytest.raises(InputError, match="none of the judged queries"):
            measure_run(NAMES, run_of(scored), qrels_of(judged))
        return
    queries, values = measure_run(NAMES, run_of(scored), qrels_of(judged))
    assert queries == list(judged)
    for i, query in enumerate(queries):
        expected = by_trec_eval(judged[query], scored.get(query, {}))
        assert {name: values[name][i] for name in NAMES} == pytest.approx(expected, abs=1e-12)
