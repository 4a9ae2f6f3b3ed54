"""Evidence from other queries' judgments: against sums over all pairs, and that no label reaches its own row."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence, recurrence

WORDS = ["wing", "flow", "heat", "shock", "layer", "boundary", "plate", "jet"]


def world(seed=0, n_queries=12, n_documents=15, longest=10, first=0):
    """Queries whose documents recur."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    documents = np.concatenate([rng.permutation(n_documents)[:size] for size in sizes])
    names = np.array([f"q{first + i}" for i in range(n_queries)], dtype=object)
    judged = Judged(
        query_id=names,
        part=np.full(n_queries, "train", dtype=object),
        offsets=offsets,
        doc_id=np.array([f"d{i}" for i in documents], dtype=object),
        y=rng.integers(0, 3, offsets[-1]),
        X=rng.normal(size=(offsets[-1], 3)).astype(np.float32),
    )
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 5))) for _ in range(n_queries)]
    return judged, {"candidates": None, "vectors": rng.normal(size=(n_queries, 4)), "words": texts}


def with_missed(judged, seed, n_documents=15):
    """The same queries with relevant documents that are not among their candidates."""
    rng = np.random.default_rng(seed)
    grades, names = np.empty(judged.n_queries, dtype=object), np.empty(judged.n_queries, dtype=object)
    for q in range(judged.n_queries):
        absent = [f"d{i}" for i in range(n_documents) if f"d{i}" not in lists(judged, q)[0] and rng.random() < 0.4]
        grades[q], names[q] = tuple(rng.integers(1, 3, len(absent)).tolist()), tuple(absent)
    return replace(judged, missed=grades, missed_id=names)


def lists(judged, q):
    rows = slice(judged.offsets[q], judged.offsets[q + 1])
    return judged.doc_id[rows].tolist(), judged.y[rows].tolist(), judged.X[rows, 0].tolist()


def profile(kind, judged, described, q, train_texts):
    """A query's profile as a dict, by the definition."""
    if kind == "vectors":
        return dict(enumerate(described[q]))
    if kind == "candidates":
        documents, _, scores = lists(judged, q)
        order = sorted(range(len(documents)), key=lambda i: -scores[i])
        return {documents[i]: 1 / np.log2(2 + rank) for rank, i in enumerate(order)}
    words = described[q].split()
    stems = {w: w for w in WORDS} | {"boundary": "boundari"}
    df = {w: sum(w in text.split() for text in train_texts) for w in words}
    return {stems[w]: words.count(w) * (np.log((1 + len(train_texts)) / (1 + df[w])) + 1) for w in words}


def cosine(a, b):
    length = np.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return max(sum(a[t] * b[t] for t in a if t in b) / length, 0.0)


def brute(kind, train, described, other, described_other, gammas, near=None, equal=False):
    """The sums over all training queries and documents."""
    texts = described if kind == "words" else []
    out = []
    for q in range(other.n_queries):
        mine = profile(kind, other, described_other, q, texts)
        sims = [cosine(mine, profile(kind, train, described, p, texts)) for p in range(train.n_queries)]
        for document in lists(other, q)[0]:
            row = np.zeros(1 if equal else len(gammas))
            for p in range(train.n_queries):
                documents, grades, _ = lists(train, p)
                if train.missed_id is not None:
                    documents, grades = documents + list(train.missed_id[p]), grades + list(train.missed[p])
                same = train.query_id[p] == other.query_id[q]
                if same or document not in documents or (near is not None and sims[p] >= near - 1e-9):
                    continue
                grade = grades[documents.index(document)]
                row += grade if equal else np.array([sims[p] ** g * grade for g in gammas])
            out.append(row)
    return np.array(out)


@settings(max_examples=15)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["candidates", "vectors", "words"]),
    st.sampled_from([None, 0.3, 0.7]),
    st.booleans(),
    st.booleans(),
)
def test_the_sums_of_the_definition(seed, kind, near, own, missed):
    """For training queries and for new ones, with and without near-duplicates and relevant documents that candidates miss."""
    train, described = world(seed)
    train = with_missed(train, seed) if missed else train
    other, described_other = (train, described) if own else world(seed + 1, first=100)
    options = {"similarity": kind, "reference": 0, "exclude_near": near}
    evidence = NeighbourEvidence(gammas=(1.0, 2.5), **options).fit(train, described[kind])
    expected = brute(kind, train, described[kind], other, described_other[kind], (1.0, 2.5), near)
    np.testing.assert_allclose(evidence.transform(other, described_other[kind]), expected, atol=1e-12)
    prior = DocumentPrior(**options).fit(train, described[kind])
    expected = brute(kind, train, described[kind], other, described_other[kind], (), near, equal=True)
    np.testing.assert_array_equal(prior.transform(other, described_other[kind]), expected)


@pytest.mark.parametrize("kind", ["candidates", "vectors", "words"])
@pytest.mark.parametrize("made", [NeighbourEvidence, DocumentPrior])
def test_no_label_reaches_its_own_row(kind, made):
    """Permuting or replacing the labels of one query changes no column of its rows, and those of others."""
    train, described = world(5, n_queries=20)
    train = with_missed(train, 5)
    before = made(similarity=kind, reference=0).fit_transform(train, described[kind])
    rng = np.random.default_rng(1)
    changed = False
    for q in range(train.n_queries):
        rows = slice(train.offsets[q], train.offsets[q + 1])
        y = train.y.copy()
        y[rows] = 2 - rng.permutation(y[rows])
        names = train.missed_id.copy()
        names[q] = tuple(f"d{i}" for i in range(len(names[q])))
        other = replace(train, y=y, missed_id=names)
        after = made(similarity=kind, reference=0).fit_transform(other, described[kind])
        np.testing.assert_array_equal(after[rows], before[rows])
        changed |= not np.array_equal(after, before)
    assert changed


def test_the_order_of_queries_does_not_matter():
    train, _ = world(3)
    order = np.random.default_rng(0).permutation(train.n_queries)
    direct = NeighbourEvidence(reference=0).fit_transform(train)
    turned = NeighbourEvidence(reference=0).fit(train.take(order)).transform(train)
    np.testing.assert_allclose(turned, direct, atol=1e-12)


def test_recurrence_counts_rows():
    train, _ = world(1)
    other, _ = world(2, first=100, n_documents=30)
    known, relevant = set(train.doc_id), set(train.doc_id[train.y > 0])
    found = recurrence(train, other)
    assert found.seen == pytest.approx(np.mean([d in known for d in other.doc_id]))
    assert found.relevant == pytest.approx(np.mean([d in relevant for d in other.doc_id]))
    assert found.found == pytest.approx(np.mean([d in relevant for d in other.doc_id[other.y > 0]]))
    times = [((train.doc_id == d) & (train.y > 0)).sum() for d in other.doc_id]
    assert found.queries == pytest.approx(np.mean(times))
    assert recurrence(train, train).seen == 0  # nothing but the queries themselves
    train = with_missed(train, 1, n_documents=30)
    missed = [name for own in train.missed_id for name in own]
    found = recurrence(train, other)
    assert found.seen == pytest.approx(np.mean([d in known | set(missed) for d in other.doc_id]))
    assert found.relevant == pytest.approx(np.mean([d in relevant | set(missed) for d in other.doc_id]))
    assert found.queries == pytest.approx(np.mean(times) + np.mean([missed.count(d) for d in other.doc_id]))


def test_bad_input_is_named():
    train, _ = world()
    with pytest.raises(InputError, match="gammas"):
        NeighbourEvidence(gammas=(0.0,))
    with pytest.raises(InputError, match="ids of the documents"):
        DocumentPrior().fit(replace(train, doc_id=train.doc_id[:0]))
    with pytest.raises(InputError, match="not been fitted"):
        DocumentPrior().transform(train)


@pytest.mark.parametrize("kind", ["candidates", "vectors", "words"])
def test_candidates_are_the_documents_with_the_most_evidence(kind):
    """Every document asked for by `transform`, and sorted: the oracle of what is brought."""
    train, described = world(1)
    new, asked = world(2, n_queries=5, first=100)
    evidence = NeighbourEvidence(similarity=kind, gammas=(1.0,)).fit(train, described[kind])
    query, document = evidence.candidates(new, 4, asked[kind])
    for q in range(5):
        one = new.take(np.array([q]))
        given_one = None if asked[kind] is None else asked[kind][q : q + 1]
        if kind == "candidates":  # the list makes the profile, so that only its own documents can be asked for
            own = dict(zip(one.doc_id, evidence.transform(one)[:, 0], strict=True))
            brought = document[query == q].tolist()
            values = [own[name] for name in brought if name in own]
            assert values == sorted(values, reverse=True)
            assert all(value > 0 for value in values)
            continue
        names = evidence.document_id_
        every = Judged(
            one.query_id,
            one.part,
            np.array([0, len(names)]),
            names,
            np.zeros(len(names), dtype=np.int64),
            np.zeros((len(names), 3), dtype=np.float32),
        )
        values = evidence.transform(every, given_one)[:, 0]
        best = [i for i in np.argsort(-values, kind="stable")[:4] if values[i] > 0]
        assert document[query == q].tolist() == names[best].tolist()
    assert np.bincount(query, minlength=5).max() <= 4
    again = new.ranked_instead(query, document)
    assert again.n_documents == len(query)
