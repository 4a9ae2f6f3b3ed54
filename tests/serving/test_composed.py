"""Rankers that look at the query are served from one file, with the scores that they gave before they were stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.simulated.tables import write_simulated
from qdrank.errors import InputError
from qdrank.queries.artifacts import VectorOptions, describe_queries
from qdrank.rankers.bilinear import Bilinear
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.mixture import Mixture
from qdrank.rankers.plain import LinearRanker, TreeRanker, WithEvidence, WithQueryVectors
from qdrank.serving.build import study_terms
from qdrank.serving.composed import ComposedRanker, compose, load_any
from qdrank.store import read, write
from qdrank.store.lists import list_matrix

TREES = {"rounds": 5, "leaves": 4, "min_leaf": 2}
RANKERS = {
    "linear": LinearRanker(lam=0.1),
    "trees": TreeRanker(**TREES),
    "trees-queries": WithQueryVectors(base=TreeRanker(**TREES)),
    "evidence": WithEvidence(base=LinearRanker(), evidence=NeighbourEvidence(reference=2, exclude_near=0.9)),
    "by-vectors": WithEvidence(base=LinearRanker(), evidence=NeighbourEvidence(similarity="vectors", gammas=(2.0,))),
    "prior": WithEvidence(base=TreeRanker(**TREES), evidence=DocumentPrior()),
    "proximal": LocalRanker(k=0.3, proximity=0.5),
    "kernel": LocalRanker(k=5, weights="kernel", mix=0.5),
    "bilinear": Bilinear(components=2),
    "gated": Mixture(bases=[LinearRanker(), TreeRanker(**TREES)], gate=True, components=2),
}
OPTIONS = VectorOptions(top=20, pooling="mean", view="given", query_columns=False, scale="zscore")


@pytest.fixture(scope="module")
def fold(tmp_path_factory):
    """A fold of tiny data whose documents recur."""
    folder = tmp_path_factory.mktemp("served")
    files = {name: folder / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(files, like="sim1", seed=3, train=30, vali=10, test=10, features=8)
    judged = load_judged(files["judged"])
    rng = np.random.default_rng(0)
    drawn = [rng.permutation(150)[:size] for size in np.diff(judged.offsets)]
    judged.doc_id[:] = [f"d{i}" for i in np.concatenate(drawn)]
    topics = read(files["topics"], "topics")
    queries, scaler = describe_queries(judged, topics, 2, "fold1", OPTIONS)
    terms = study_terms(
        judged, topics, 2, {}, largest=0, queries=OPTIONS, metric="euclidean", scale="auto", alike="shared_pairs"
    )
    return folder, judged, fold_documents(judged, "fold1"), list_matrix(queries.column("vector")), terms, scaler


def letor(path: Path, part: Judged) -> Path:
    rows = []
    for i, name in enumerate(part.query):
        features = " ".join(f"{j}:{value!r}" for j, value in enumerate(part.X[i].tolist(), 1))
        rows.append(f"0 qid:{name} {features} #docid = {part.doc_id[i]}\n")
    path.write_text("".join(rows))
    return path


@pytest.mark.parametrize("name", RANKERS)
def test_stored_rankers_give_the_scores_of_the_fitted_ones(fold, name, capsys):
    folder, judged, documents, vectors, terms, scaler = fold
    ranker = RANKERS[name].fresh().fit(documents.seen("train"), vectors[:30])
    expected = ranker.predict(documents.seen("test"), vectors[40:])
    path = folder / "served" / f"{name}.parquet"
    write(path, "rankers", compose(name, ranker, judged, "fold1", documents, terms, scaler).to_table())
    test, served = judged.of_role("fold1", "test"), load_any(folder, name)
    assert isinstance(served, ComposedRanker)
    scores = served.score_many(test.X, test.offsets, query_id=test.query_id, doc_id=test.doc_id)
    np.testing.assert_array_equal(scores, expected)
    file = letor(folder / "new.txt", test)
    assert main(["rank", "--models", str(folder), "--input", str(file), "--method", name]) == 0
    printed = [float(line) for line in capsys.readouterr().out.splitlines()]
    # Local models are trained in the batches that come; all others give the same bits.
    np.testing.assert_allclose(printed, expected, rtol=0, atol=1e-6 if isinstance(ranker, LocalRanker) else 0)


def test_evidence_needs_the_names_of_documents(fold):
    _, judged, documents, vectors, terms, scaler = fold
    test = judged.of_role("fold1", "test")
    for name in ("linear", "evidence"):
        ranker = RANKERS[name].fresh().fit(documents.seen("train"), vectors[:30])
        composed = compose(name, ranker, judged, "fold1", documents, terms, scaler)
        if name == "linear":
            assert np.isfinite(composed.score_many(test.X, test.offsets)).all()
        else:
            with pytest.raises(InputError, match="have no ids"):
                composed.score_many(test.X, test.offsets)
            other = np.array(["nowhere"] * len(test.X), dtype=object)
            assert np.isfinite(composed.score_many(test.X, test.offsets, doc_id=other)).all()


def test_unknown_names_and_settings_are_refused(fold):
    folder, judged, documents, vectors, terms, scaler = fold
    ranker = LinearRanker().fit(documents.seen("train"), vectors[:30])
    path = folder / "served" / "linear.parquet"
    write(path, "rankers", compose("linear", ranker, judged, "fold1", documents, terms, scaler).to_table())
    with pytest.raises(InputError, match="linear"):
        load_any(folder, "linera")
    with pytest.raises(InputError, match="leave out k"):
        load_any(folder, "linear", k=3)
    test = judged.of_role("fold1", "test")
    with pytest.raises(InputError, match="8 features"):
        load_any(folder, "linear").score_many(test.X[:, :5], test.offsets)
