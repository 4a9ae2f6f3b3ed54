"""Folds by source: rules that tell sources, parts that keep them together, and the way of both through the readers."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.folds import assign_parts
from qdrank.datasets.importing import import_features
from qdrank.datasets.judged import load_judged
from qdrank.datasets.origins import sources_of
from qdrank.datasets.runs.dataset import import_runs
from qdrank.datasets.sources import load
from qdrank.errors import InputError
from qdrank.store import read
from qdrank.text.extract import extract_features
from qdrank.text.retrieve import parts_of
from qdrank.workflow.config import Text
from qdrank.workflow.config_files import resolve
from qdrank.workflow.plan import plan

QUERIES = [f"q{i}" for i in range(60)]
OUT = ("judged", "columns", "topics")


@given(sizes=st.lists(st.integers(1, 30), min_size=5, max_size=60), seed=st.integers(0, 9))
def test_queries_of_one_source_stay_together_and_parts_are_even(sizes, seed):
    source = {f"{i}-{j}": str(i) for i, size in enumerate(sizes) for j in range(size)}
    parts = assign_parts(list(source), seed=seed, source=source)
    assert parts == assign_parts(list(source)[::-1], seed=seed, source=source)
    assert all(len({parts[q] for q in source if source[q] == name}) == 1 for name in source.values())
    counts = Counter(parts.values())
    assert len(counts) == 5
    assert max(counts.values()) - min(counts.values()) <= max(sizes)


def test_the_seed_decides_between_sources_of_one_size():
    source = {name: name[:2] for name in QUERIES}
    assert assign_parts(QUERIES, seed=1, source=source) != assign_parts(QUERIES, seed=2, source=source)


def test_too_few_sources_are_told():
    with pytest.raises(InputError, match="queries of 4 sources cannot be put into 5 parts"):
        assign_parts(QUERIES, seed=1, source={name: str(i % 4) for i, name in enumerate(QUERIES)})


def test_blocks_and_starts_go_by_the_order_of_the_file():
    assert Counter(sources_of({"blocks": 25}, QUERIES).values()) == {"q0": 25, "q25": 25, "q50": 10}
    assert Counter(sources_of({"starts": (0, 1, 40)}, QUERIES).values()) == {"q0": 1, "q1": 39, "q40": 20}


def test_common_documents_join_queries_whichever_comes_first():
    pairs = [("q3", "a", 2), ("q1", "a", 2), ("q2", "b", 2), ("q3", "b", 2), ("q1", "c", 1), ("q0", "c", 2)]
    found = sources_of({"shared": 2}, QUERIES[:5], pairs)
    assert found == {"q0": "q0", "q1": "q1", "q2": "q1", "q3": "q1", "q4": "q4"}
    assert sources_of({"shared": 1}, QUERIES[:5], pairs[::-1])["q3"] == "q0"


def test_a_file_names_sources(tmp_path):
    (tmp_path / "s").write_text("q1 b\nq0 a\n")
    assert sources_of({"file": str(tmp_path / "s")}, ["q0", "q1"]) == {"q0": "a", "q1": "b"}
    with pytest.raises(InputError, match="1 queries have no source"):
        sources_of({"file": str(tmp_path / "s")}, ["q0", "q2"])


def together(topics) -> dict[str, list[str]]:
    """Parts by source, from the artifact; none is in two."""
    rows = sorted(zip(*(topics.column(name).to_pylist() for name in ("source", "part")), strict=True))
    parts = {source: sorted({part for _, part in of}) for source, of in groupby(rows, key=lambda row: row[0])}
    assert all(len(of) == 1 for of in parts.values())
    return parts


def test_text_in_beirs_form(tmp_path):
    (tmp_path / "qrels").mkdir()
    for name, rows in (
        ("corpus", [{"_id": f"d{i}", "title": "", "text": f"word{i} wing"} for i in range(60)]),
        ("queries", [{"_id": f"q{i}", "text": f"word{i} wing"} for i in range(60)]),
    ):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "qrels" / "test.tsv").write_text("".join(f"q{i}\td{i}\t1\n" for i in range(60)))
    source = {"like": "beir", "folder": tmp_path, "sources": {"blocks": 10}}
    out = {name: tmp_path / name for name in OUT}
    extract_features(out, source, seed=1, **Text().model_dump())
    topics = read(out["topics"], "topics")
    assert list(together(topics)) == ["q0", "q10", "q20", "q30", "q40", "q50"]
    collection = read_collection(**source)
    assert [query.source for query in collection.queries if query.query_id in ("q9", "q10")] == ["q10", "q0"]
    part = dict(zip(*(topics.column(name).to_pylist() for name in ("query_id", "part")), strict=True))
    assert parts_of(collection, folds=5, seed=1) == [part[query.query_id] for query in collection.queries]
    extract_features(out, {"like": "beir", "folder": tmp_path}, seed=1, **Text().model_dump())
    assert "source" not in read(out["topics"], "topics").column_names


def test_runs_and_letor_text(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d{i} 1\nq{i} 0 e{i} 0\n" for i in range(60)))
    (tmp_path / "a.run").write_text(
        "".join(f"q{i} Q0 {d}{i} 1 {s} a\n" for i in range(60) for d, s in (("d", 2), ("e", 1)))
    )
    (tmp_path / "all").write_text("".join(f"{y} qid:q{i} 1:0.5\n" for i in range(60) for y in (0, 1)))
    out, rule = {name: tmp_path / name for name in OUT}, {"blocks": 6}
    import_runs({"qrels": tmp_path / "qrels", "runs": tmp_path / "a.run"}, out, seed=1, sources=rule)
    runs = together(read(out["topics"], "topics"))
    options = {"reference": 1, "max_label": 1, "missing_values": False, "seed": 1}
    import_features({"all": tmp_path / "all"}, out, sources=rule, **options)
    assert together(read(out["topics"], "topics")) == runs
    assert len(runs) == 10
    assert Counter(load_judged(out["judged"], []).part.tolist()) == dict.fromkeys(["S1", "S2", "S3", "S4", "S5"], 12)


def planned(tmp_path, **config):
    (tmp_path / "a.run").write_text("q Q0 d 1 1 a\n")
    own = {"mine": {"kind": "runs", "runs": str(tmp_path / "a.run"), "qrels": str(tmp_path / "a.run"), **config}}
    chosen = {"datasets": ["cranfield", "mine"], "own": own, "folds": {"by": "source"}}
    return plan(resolve(chosen)).datasets


def test_the_configuration_asks_for_them(tmp_path):
    found = planned(tmp_path)
    assert found["cranfield"].options["sources"] == {"blocks": 20}
    assert "sources" not in found["mine"].options
    assert len(found["cranfield"].folds) == 5
    assert planned(tmp_path, sources={"shared": 2})["mine"].options["sources"] == {"shared": 2}
    assert "sources" not in plan(resolve({"datasets": ["cranfield"]})).datasets["cranfield"].options
    with pytest.raises(InputError, match=r"own\.mine\.sources\.file: no such file"):
        planned(tmp_path, sources={"file": "nowhere.txt"})
    with pytest.raises(InputError, match="one of file, blocks, starts and shared"):
        planned(tmp_path, sources={"blocks": 2, "shared": 1})


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("name", "queries", "sources", "largest"),
    [
        ("squad-dev", 10570, 48, 810),
        ("worldtree2", 965, 49, 20),
        ("scifact", 1109, 572, 9),
        ("cranfield", 225, 12, 20),
        ("cisi", 112, 6, 20),
        ("nfcorpus", 1173, 531, 134),
    ],
)
def test_sources_of_registered_collections(mirror, name, queries, sources, largest):
    """Of NFCorpus those with a direct link are counted."""
    rule = load()[name].sources.model_dump(exclude_none=True)
    found = read_collection(name, mirror / "raw" / name, sources=rule)
    linked = {int(row) for row, grade in zip(found.qrels.query, found.qrels.grade, strict=True) if grade == 3}
    counted = Counter(one.source for i, one in enumerate(found.queries) if name != "nfcorpus" or i in linked)
    assert (counted.total(), len(counted), max(counted.values())) == (queries, sources, largest)
