"""Relevant documents that the candidates miss count in every measure, as trec_eval counts them."""

from pathlib import Path

import numpy as np
import pytest
from tests.text.test_judged_text import made

from qdrank.datasets.collections.smart import read_smart
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.evaluation.measuring import measure_features
from qdrank.evaluation.run_files import judged_run
from qdrank.figures.data import data_summary
from qdrank.figures.text_notes import reference_maps
from qdrank.store import tables, write
from qdrank.studies.beyond.fold import Rejudging
from qdrank.text.extract import TextSettings, judged_text

NAMES = ("ap", "ndcg@10/exp", "ndcg@10/letor4", "p@10/letor4", "mean_ndcg/geng")


def loaded(tmp_path: Path, **settings: object) -> Judged:
    write(tmp_path / "judged.parquet", "judged", judged_text(made(), TextSettings(n_top=5, **settings)).judged)
    return load_judged(tmp_path / "judged.parquet")


def test_measures_are_those_of_a_run_against_all_judgments(tmp_path: Path) -> None:
    judged, collection = loaded(tmp_path), made()
    qrels = Qrels(
        query=np.array([collection.queries[row].query_id for row in collection.qrels.query], dtype=object),
        doc=np.array([collection.documents.doc_id[row] for row in collection.qrels.document], dtype=object),
        grade=collection.qrels.grade,
    )
    scores = judged.X[:, 20].astype(np.float64)
    # In row order no two scores tie, so that runs, which break ties by id, give the same.
    scores += np.linspace(0, 1e-3, len(scores))
    joined = judged_run(Run(judged.query, judged.doc_id, scores, "x"), qrels)
    ids, values = joined.query_id, joined.measured(NAMES)
    found = measure_features(NAMES, judged.with_features(scores[:, None]), judged.folds).to_pylist()
    by_query = {row["query_id"]: row for row in found}
    assert set(by_query) == set(ids) - {"q-empty", "q-ghost"}  # without candidates
    single = Judged(judged.query_id, judged.part, judged.offsets, judged.doc_id, judged.y, judged.X)
    assert any(len(own) for own in judged.missed)
    for name in NAMES:
        expected = dict(zip(ids, values[name], strict=True))
        for query, row in by_query.items():
            assert row[name] == pytest.approx(expected[query], abs=1e-6), (name, query)
    assert single.unranked is None


def test_the_missed_follow_their_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = loaded(tmp_path)
    by_query = dict(zip(judged.query_id, judged.missed, strict=True))
    collection = made()
    relevant: dict[str, int] = {}
    for query in collection.qrels.query[collection.qrels.grade > 0]:
        name = collection.queries[query].query_id
        relevant[name] = relevant.get(name, 0) + 1
    for query, own in by_query.items():
        here = int((judged.y[judged.query == query] > 0).sum())
        assert here + len(own) == relevant[query]
        assert all(grade >= 1 for grade in own)
    names = dict(zip(judged.query_id, judged.missed_id, strict=True))
    for part in (judged.of_role("fold2", "test"), judged.take(np.array([3, 1])), judged.with_features(judged.X)):
        assert part.missed.tolist() == [by_query[query] for query in part.query_id]
        assert part.missed_id.tolist() == [names[query] for query in part.query_id]
    assert judged.to_table().equals(load_judged(tmp_path / "judged.parquet").to_table())
    monkeypatch.setattr(tables, "ROW_GROUP_SIZE", 3)  # queries are cut by row groups
    write(tmp_path / "cut.parquet", "judged", judged.to_table())
    assert load_judged(tmp_path / "cut.parquet").missed.tolist() == judged.missed.tolist()
    assert load_judged(tmp_path / "cut.parquet").missed_id.tolist() == judged.missed_id.tolist()


def test_every_relevant_document_is_known_by_name(tmp_path: Path) -> None:
    judged, collection = loaded(tmp_path), made()
    asked = set(judged.query_id)
    expected = {
        (collection.queries[query].query_id, collection.documents.doc_id[document], int(grade))
        for query, document, grade in zip(
            collection.qrels.query, collection.qrels.document, collection.qrels.grade, strict=True
        )
        if grade > 0 and collection.queries[query].query_id in asked
    }
    query, names, grades = judged.relevant
    found = list(zip(judged.query_id[query], names, grades.tolist(), strict=True))
    assert len(found) == len(expected)
    assert set(found) == expected
    assert load_judged(tmp_path / "judged.parquet", ["features"]).missed_id is None


def test_measures_over_candidates_are_offered_and_read_higher(tmp_path: Path) -> None:
    every, few = loaded(tmp_path), loaded(tmp_path, relevant="candidates")
    assert few.missed is None
    assert np.array_equal(every.y, few.y)
    over_all = measure_features(["ap"], every, every.folds).column("ap").to_numpy()
    over_few = measure_features(["ap"], few, few.folds).column("ap").to_numpy()
    assert (over_all <= over_few).all()
    assert over_all.mean() < over_few.mean()
    first, among = "MAP of the first stage", "over the relevant documents among the candidates"
    maps = reference_maps(every, 20, "first.BM25")
    assert maps[f"{first} over all relevant documents"] < maps[f"{first} {among}"]
    # Hoi 2008's 25 rank models have no score of the first stage: the notes do not call theirs so.
    (what,) = reference_maps(few, 20, "both.H1")
    assert what == f"MAP of the reference feature both.H1, which is not the first stage's, {among}"


def test_summary_and_notes_count_them(tmp_path: Path) -> None:
    judged, text = loaded(tmp_path), judged_text(made(), TextSettings(n_top=5))
    row = data_summary(judged).to_pylist()[-1]
    missed = sum(map(len, judged.missed))
    assert row["relevant, not among the candidates"] == missed > 0
    assert row["relevant"] == missed + int((judged.y > 0).sum())
    (note,) = [note for note in text.notes if "not among the candidates" in note.kind]
    assert len(set(note.examples)) == len(note.examples) == 3
    assert note.count == missed + 2  # those of the two queries without candidates


def test_feature_data_have_no_such_column(tmp_path: Path) -> None:
    judged = loaded(tmp_path, relevant="candidates")
    assert "missed" not in judged.to_table().column_names
    assert "relevant" not in data_summary(judged).column_names


def test_cranfield(mirror: Path) -> None:
    """Cranfield: of the 1,612 relevant pairs 100 candidates find most; the honest MAP is the lower one."""
    found = judged_text(read_smart(mirror / "raw/cranfield", "cranfield"))
    assert found.judged.column_names[-2:] == ["missed", "missed_id"]
    total = sum(map(len, found.judged["missed"].to_pylist()))
    assert 200 < total < 600


@pytest.mark.parametrize("judged_candidates", [False, True])
def test_evidence_does_not_see_its_own_judgments_unless_they_make_candidates(tmp_path, judged_candidates):
    """The judgments of one query are replaced in the collection; with ``judged`` they reach its own evidence."""
    from dataclasses import replace

    from qdrank.rankers.evidence import NeighbourEvidence

    collection = made()
    qrels, query = collection.qrels, 3
    kept = qrels.query != query
    others = np.array([1, 4, 11, 30, 45], dtype=qrels.document.dtype)
    turned = replace(
        qrels,
        query=np.r_[qrels.query[kept], np.full(len(others), query, qrels.query.dtype)],
        document=np.r_[qrels.document[kept], others],
        grade=np.r_[qrels.grade[kept], np.full(len(others), 2, qrels.grade.dtype)],
    )
    name, evidence = collection.queries[query].query_id, []
    for own in (collection, replace(collection, qrels=turned)):
        settings = TextSettings(n_top=5, judged=judged_candidates)
        write(tmp_path / "judged.parquet", "judged", judged_text(own, settings).judged)
        data = load_judged(tmp_path / "judged.parquet")
        columns = NeighbourEvidence(similarity="candidates", reference=20, gammas=(1.0,)).fit_transform(data, None)
        at = data.query_id.tolist().index(name)
        rows = slice(data.offsets[at], data.offsets[at + 1])
        evidence.append(dict(zip(data.doc_id[rows].tolist(), columns[rows, 0].tolist(), strict=True)))
    both = set(evidence[0]) & set(evidence[1])
    changed = max(abs(evidence[0][doc] - evidence[1][doc]) for doc in both)
    assert (changed > 0.01) if judged_candidates else (changed == 0 and set(evidence[0]) == set(evidence[1]))


@pytest.mark.parametrize("judged_candidates", [False, True])
def test_judging_a_query_again_shows_candidates_that_judgments_bring(tmp_path: Path, judged_candidates: bool) -> None:
    settings, rng = TextSettings(n_top=5, judged=judged_candidates), np.random.default_rng(1)
    data, collection = loaded(tmp_path, judged=judged_candidates), made()
    again = Rejudging(collection, settings)
    for at, name in enumerate(data.query_id.tolist()):
        rows, other = slice(data.offsets[at], data.offsets[at + 1]), again.of(name, rng)
        changed = other.share_changed(data.doc_id[rows])
        assert (changed > 0) if judged_candidates else (changed == 0)
        relevant = {*other.doc_id[other.grade > 0].tolist(), *other.missed_id}
        assert relevant
        assert len(other.missed) == len(other.missed_id)
        assert not set(other.doc_id.tolist()) & set(other.missed_id)
        assert not judged_candidates or not other.missed
    assert collection.qrels.query.tolist() == made().qrels.query.tolist()  # the collection itself stays
