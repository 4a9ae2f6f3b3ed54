"""Rankers of every kind are served from one file, with the scores that they gave before they were stored."""

import gzip
import lzma
import os
import subprocess
import sys
import threading
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.datasets.columns import topics_table
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.simulated.features import write_simulated
from qdrank.errors import InputError
from qdrank.learners import LEARNERS
from qdrank.learners.atvt.estimator import ATVT
from qdrank.learners.ensemble.ser import SSER
from qdrank.learners.parameters import fitted_names
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.queries.recipe import VectorOptions, describe_queries, document_vectors
from qdrank.rankers import RANKERS as REGISTRY
from qdrank.rankers.bilinear import Bilinear, Mixture
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.evidence import DocumentPrior, NeighbourEvidence
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker, ReadyModels
from qdrank.rankers.one_model import LinearRanker, TreeRanker, WithEvidence
from qdrank.rankers.served import OneFeature, ServedRanker, write_ranker
from qdrank.serving.ranking import kind_of, load_ranker
from qdrank.store import read, write
from qdrank.store.tables import list_matrix
from qdrank.studies import STUDIES

TREES = {"rounds": 5, "leaves": 4, "min_leaf": 2}
RANKERS = {
    "feature": OneFeature(column=2),
    "linear": LinearRanker(lam=0.1),
    **{name: LearnerRanker(learner=LEARNERS[name]()) for name in ("ranksvm", "listnet", "rankboost", "regression")},
    "sser": LearnerRanker(learner=SSER(gamma=0.5)),
    "atvt": LearnerRanker(learner=ATVT(lam_alpha=inf, lam_beta=1.0)),
    "ready": ReadyModels(k=7, lam=0.1),
    "ready-nearest": ReadyModels(k=0.3, lam=0.1, choice="nearest", metric="mahalanobis"),
    "ready-gamma": ReadyModels(k=5, lam=0.1, choice="smallest_gamma", metric="cosine"),
    "trees": TreeRanker(**TREES),
    "trees-queries": WithQueryVectors(base=TreeRanker(**TREES)),
    "evidence": WithEvidence(base=LinearRanker(), evidence=NeighbourEvidence(reference=2, exclude_near=0.9)),
    "by-vectors": WithEvidence(base=LinearRanker(), evidence=NeighbourEvidence(similarity="vectors", gammas=(2.0,))),
    "by-words": WithEvidence(base=LinearRanker(), evidence=NeighbourEvidence(similarity="words")),
    "prior": WithEvidence(base=TreeRanker(**TREES), evidence=DocumentPrior()),
    "proximal": LocalRanker(k=0.3, proximity=0.5),
    "by-evidence": WithEvidence(base=LocalRanker(k=0.3), evidence=DocumentPrior()),
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
    write(files["judged"], "judged", judged.to_table())
    words = [f"{'red' if i % 2 else 'blue'} w{i % 7}" for i in range(judged.n_queries)]
    write(files["topics"], "topics", topics_table(judged.query_id, judged.part, text=words))
    judged, topics = replace(judged, text=np.array(words, dtype=object)), read(files["topics"], "topics")
    queries, scaler = describe_queries(judged, topics, 2, "fold1", OPTIONS)
    recipe = document_vectors(OPTIONS, scaler, topics, reference=2, missing=False)
    place = folder / "fold1"
    return place, judged, fold_documents(judged, "fold1"), list_matrix(queries.column("vector")), recipe


def stored(fold, name: str) -> tuple[Path, ServedRanker]:
    """A fitted ranker in the place where the command looks for it."""
    place, _, documents, vectors, recipe = fold
    ranker = RANKERS[name].fresh().fit(documents.seen("train"), vectors[:30])
    served = ServedRanker(method=name, fold="fold1", documents=documents.view(), queries=recipe, ranker=ranker)
    path = place / "served" / f"{name}.parquet"
    write_ranker(path, served)
    return path, served


def letor(path: Path, part: Judged) -> Path:
    rows = []
    for i, name in enumerate(part.query):
        features = " ".join(f"{j}:{value!r}" for j, value in enumerate(part.X[i].tolist(), 1))
        rows.append(f"0 qid:{name} {features} #docid = {part.doc_id[i]}\n")
    path.write_text("".join(rows))
    return path


@pytest.mark.parametrize("name", RANKERS)
def test_stored_rankers_give_the_scores_of_the_fitted_ones(fold, name, capsys):
    place, judged, documents, vectors, _ = fold
    _, served = stored(fold, name)
    expected = served.ranker.predict(documents.seen("test"), vectors[40:])
    test, again = judged.of_role("fold1", "test"), load_ranker(place, name)
    scores = again.score_many(test.X, test.offsets, query_id=test.query_id, doc_id=test.doc_id, text=test.text)
    np.testing.assert_array_equal(scores, expected)
    file, topics = letor(place / "new.txt", test), ["--topics", str(place.parent / "topics.parquet")]
    assert main(["rank", "--models", str(place), "--input", str(file), "--method", name, *topics]) == 0
    printed = [float(line) for line in capsys.readouterr().out.splitlines()]
    # Scored in batches: models that are trained together agree to the tolerance of training, matrix products but for rounding.
    apart = 1e-5 if served.ranker.needs("TRAINING") else 1e-12
    np.testing.assert_allclose(printed, expected, rtol=0, atol=apart)
    for query in (0, 7):
        rows = slice(*test.offsets[query : query + 2])
        names = {"query_id": test.query_id[query : query + 1], "doc_id": test.doc_id[rows]}
        names["text"] = test.text[query : query + 1]
        one = again.score_many(test.X[rows], np.array([0, rows.stop - rows.start]), **names)
        np.testing.assert_allclose(one, expected[rows], rtol=0, atol=apart)


@pytest.mark.parametrize("packed", [bytes, lzma.compress, gzip.compress], ids=["plain", "xz", "gz"])
@pytest.mark.parametrize("way", ["file", "pipe", "standard input"])
def test_input_may_be_a_pipe_and_compressed(fold, tmp_path, way, packed):
    """In a process of its own, as from a shell; a pipe can be read once only."""
    place, judged, *_ = fold
    stored(fold, "linear")
    test = judged.of_role("fold1", "test")
    content = packed(letor(tmp_path / "new.txt", test).read_bytes())
    source = tmp_path / "given"
    if way == "pipe":
        os.mkfifo(source)
        threading.Thread(target=source.write_bytes, args=(content,), daemon=True).start()
    else:
        source.write_bytes(content)
    named = "-" if way == "standard input" else source
    command = [sys.executable, "-m", "qdrank.cli", "rank", "--models", place, "--method", "linear", "--input", named]
    given = content if way == "standard input" else None
    done = subprocess.run(list(map(str, command)), input=given, capture_output=True, check=True)
    expected = load_ranker(place, "linear").score_many(test.X, test.offsets)
    np.testing.assert_allclose([float(line) for line in done.stdout.splitlines()], expected, rtol=0, atol=1e-12)


def test_a_linear_model_answers_without_what_takes_long_to_load(fold, tmp_path):
    """Each takes about as long to load as a few queries to rank."""
    place, judged, *_ = fold
    stored(fold, "linear")
    file = letor(tmp_path / "new.txt", judged.of_role("fold1", "test"))
    late = {"numba", "scipy", "pandas", "pydantic", "pyarrow.compute", "numpy.ma", "numpy.random"}
    code = f"import sys; from qdrank.cli import main; main(sys.argv[1:]); print(*sorted({late} & {{*sys.modules}}))"
    words = ["rank", "--models", str(place), "--method", "linear", "--input", str(file)]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n\n"), done.stdout[-200:]


def test_a_pipe_of_topics_is_refused_in_words(fold, capsys):
    place, judged, *_ = fold
    stored(fold, "linear")
    file = letor(place / "new.txt", judged.of_role("fold1", "test"))
    words = ["rank", "--models", str(place), "--method", "linear", "--input", str(file), "--topics"]
    for path, problem in (("-", "cannot be read from a pipe"), ("nowhere", "no such file")):
        assert main([*words, path]) == 2
        assert problem in capsys.readouterr().err


def test_ready_models_are_the_ranking_svms_of_their_neighbours(fold):
    _, _, documents, vectors, _ = fold
    train, ranker = documents.seen("train"), RANKERS["ready"].fresh()
    ranker.fit(train, vectors[:30])
    for query in (0, 13):
        near = np.argsort(((vectors[:30] - vectors[query]) ** 2).sum(axis=1), kind="stable")[:7]
        part = train.take(np.sort(near))
        peer = RankSVM(lam=0.1, tol=1e-10).fit(part.X, part.y, part.query)
        np.testing.assert_allclose(ranker.weights_[query], peer.coef_, atol=2 * np.sqrt(2e-6 / 0.1))
    with pytest.raises(InputError, match="unknown choice"):
        ReadyModels(choice="farthest")


def test_every_kind_that_is_stored_has_one_name():
    names = [*REGISTRY, *LEARNERS, *(kind for study in STUDIES for kind in STUDIES[study].rankers)]
    assert sorted(set(names)) == sorted(names)
    for name in names:
        assert name == kind_of(name).NAME
    with pytest.raises(InputError, match="unknown kind"):
        kind_of("nothing")


def test_evidence_needs_the_names_of_documents(fold):
    _, judged, *_ = fold
    test = judged.of_role("fold1", "test")
    assert np.isfinite(stored(fold, "linear")[1].score_many(test.X, test.offsets)).all()
    served = stored(fold, "evidence")[1]
    with pytest.raises(InputError, match="have no ids"):
        served.score_many(test.X, test.offsets)
    other = np.array(["nowhere"] * len(test.X), dtype=object)
    assert np.isfinite(served.score_many(test.X, test.offsets, doc_id=other)).all()


def test_evidence_by_words_needs_the_words_of_queries(fold):
    """The same scores come from the evidence's own columns, given the texts; a query of other words has others."""
    _, judged, documents, vectors, _ = fold
    test, served = judged.of_role("fold1", "test"), stored(fold, "by-words")[1]
    names = {"query_id": test.query_id, "doc_id": test.doc_id}
    with pytest.raises(InputError, match="text of every query"):
        served.score_many(test.X, test.offsets, **names)
    train, seen = documents.seen("train"), replace(documents.seen("test"), text=None)
    evidence = NeighbourEvidence(similarity="words").fit(replace(train, text=None), train.text)
    wide = np.hstack([seen.X, (evidence.transform(seen, test.text) * served.ranker.scale_).astype(np.float32)])
    expected = served.ranker.base.predict(seen.with_features(wide), vectors[40:])
    np.testing.assert_array_equal(served.score_many(test.X, test.offsets, text=test.text, **names), expected)
    others = served.score_many(test.X, test.offsets, text=["green"] * test.n_queries, **names)
    assert not np.array_equal(others, expected)


def test_rankers_that_train_on_request_say_what_they_lack(fold, tmp_path):
    judged, (path, served) = fold[1], stored(fold, "proximal")
    alone = tmp_path / "data" / "fold1" / "served" / path.name
    alone.parent.mkdir(parents=True)
    alone.write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="proximal learns from the training documents, which are missing"):
        load_ranker(alone)
    fresh = served.ranker.fresh()
    fresh.single_, fresh.vectors_, fresh.query_id_ = (getattr(served.ranker, name) for name in fitted_names(fresh))
    with pytest.raises(InputError, match="call remember first"):
        fresh.predict(judged.of_role("fold1", "train"), fresh.vectors_)


def test_unknown_names_and_settings_are_refused(fold):
    place, judged, *_ = fold
    stored(fold, "linear")
    with pytest.raises(InputError, match="did you mean linear"):
        load_ranker(place, "linera")
    with pytest.raises(InputError, match="leave out k"):
        load_ranker(place, "linear", k=3)
    test = judged.of_role("fold1", "test")
    with pytest.raises(InputError, match="8 features"):
        load_ranker(place, "linear").score_many(test.X[:, :5], test.offsets)
