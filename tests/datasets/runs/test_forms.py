"""What other tools write (fixtures/README.md says which versions), read as they wrote it; and every fault by its place."""

import csv
import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import qdrank
from qdrank.cli import main
from qdrank.datasets.runs.reading import qrels_of, read_qrels, read_run, read_runs, run_of
from qdrank.datasets.textfiles import open_bytes
from qdrank.errors import InputError

FIXTURES = Path(__file__).parent / "fixtures"
SCORES = {"q1": {"d1": 12.5, "d2": 9.25, "d3": 9.25}, "q2": {"d2": 7.125, "d4": 0.5}, "q10": {"d5": -1.5}}
FOUND = {query: SCORES[query] for query in ("q1", "q2")}  # q10 of the engines has no hits
COSINES = {
    "q1": {"d1": 0.7770618200302124, "d3": 0.6726728081703186, "d4": 0.4779585003852844},
    "q2": {"d4": 0.7633862495422363, "d2": 0.7348034381866455, "d1": 0},
    "q10": {"d5": 1, "d1": 0, "d2": 0},
}
GRADES = {"q1": {"d1": 2, "d3": 0, "d9": 1}, "q2": {"d4": 1}, "q3": {"d7": 3}}
RANKS = {query: {doc: -i for i, doc in enumerate(docs)} for query, docs in SCORES.items()}


def lists(run, value="score"):
    """From each query to its documents and their numbers."""
    made = {}
    for query, doc, number in zip(run.query, run.doc, getattr(run, value).tolist(), strict=True):
        made.setdefault(query, {})[doc] = number
    return made


@pytest.mark.parametrize(
    ("name", "expected", "tag"),
    [
        ("pyterrier.csv.gz", SCORES, "pyterrier"),
        ("pyterrier-index.csv", SCORES, "pyterrier-index"),
        ("pyterrier.parquet", SCORES, "pyterrier"),
        ("pyterrier.trec", SCORES, "pyterrier"),
        ("pyterrier-minimal.tsv", RANKS, "pyterrier-minimal"),
        ("ranx-run.json", SCORES, "ranx-run"),
        ("ranx-run.lz4", SCORES, "ranx-run"),
        ("ranx-run.parquet", SCORES, "ranx-run"),
        ("ranx-run.trec", SCORES, "bm25"),
        ("pyserini.trec", SCORES, "Anserini"),
        ("sentence-transformers.jsonl", COSINES, "sentence-transformers"),
        ("msearch.json", FOUND, "msearch"),
        ("rank_eval.json", FOUND, "rank_eval"),
    ],
)
def test_a_run_as_its_tool_wrote_it(tmp_path, name, expected, tag):
    run = read_run(FIXTURES / name)
    assert (lists(run), run.tag) == (expected, tag)
    (tmp_path / "again").write_bytes(
        gzip.compress(open_bytes(FIXTURES / name).read())
    )  # compressed, under another name
    assert lists(read_run(tmp_path / "again")) == expected


@pytest.mark.parametrize("end", ["json", "parquet", "trec"])
def test_judgments_as_their_tool_wrote_them(end):
    assert read_qrels(FIXTURES / f"ranx-qrels.{end}").by_query == GRADES
    assert read_qrels(FIXTURES / "pyterrier-qrels.csv").by_query == GRADES
    assert read_qrels(FIXTURES / "rank_eval-qrels.json").by_query == GRADES
    assert read_qrels(FIXTURES / "rank_eval.json").by_query == {"q1": {"d1": 2, "d3": 0}, "q2": {"d4": 1}}


def test_ranks_of_pyserini_and_predictions_of_mteb():
    assert lists(read_run(FIXTURES / "pyserini-msmarco.tsv")) == {
        query: {doc: rank - 1 for doc, rank in docs.items()} for query, docs in RANKS.items()
    }
    run, theirs = read_run(FIXTURES / "mteb.json"), lists(read_run(FIXTURES / "sentence-transformers.jsonl"))
    assert run.tag == "no_model_name/available"
    for query, docs in theirs.items():
        assert docs.items() <= lists(run)[query].items()
    content = json.loads((FIXTURES / "mteb.json").read_text())
    content["default"]["dev"] = {"q7": {"d1": 1.0}}
    with pytest.raises(InputError, match="2 runs in one object"):
        run_of(content)


def test_two_splits_of_mteb_are_two_runs(tmp_path):
    content = {
        "mteb_model_meta": {"model_name": "e5"},
        "default": {"dev": {"q7": {"d1": 1}}, "test": {"q1": {"d1": 2}}},
    }
    (tmp_path / "Tiny_predictions.json").write_text(json.dumps(content))
    runs = read_runs(tmp_path / "Tiny_predictions.json")
    assert [(run.tag, lists(run)) for run in runs] == [
        ("e5/default/dev", {"q7": {"d1": 1}}),
        ("e5/default/test", {"q1": {"d1": 2}}),
    ]


def answer(*hits, **more):
    """A response of Elasticsearch: id and score of each hit."""
    return {"hits": {"hits": [{"_id": doc, "_score": score} for doc, score in hits]}, "status": 200} | more


def test_queries_of_an_msearch_go_by_their_names():
    content = {"responses": [answer(("a", 2.0), ("b", 1.0)), answer(), answer(("a", None), ("b", None))]}
    for one, names in zip(content["responses"], (["x"], [], {"y": 1.5}), strict=True):
        for hit in one["hits"]["hits"]:
            hit["matched_queries"] = names
    assert lists(run_of(content)) == {"x": {"a": 2, "b": 1}, "y": {"a": 0, "b": -1}}  # without scores the order counts
    assert lists(run_of(SimpleNamespace(body=content))) == lists(run_of(content))  # what Elasticsearch's client returns
    for names in (["x"], ["y", "z"], []):
        content["responses"][2]["hits"]["hits"][0]["matched_queries"] = names
        content["responses"][2]["hits"]["hits"][1]["matched_queries"] = names
        with pytest.raises(InputError, match=r"the query in place [13] has no name of its own"):
            run_of(content)
    assert lists(run_of({"q7": answer(("a", 2.0)), "q8": {"hits": {"total": {"value": 0}}}})) == {"q7": {"a": 2}}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"responses": [{"error": {"type": "parsing_exception"}, "status": 400}]},
            "the search for the query in place 1 failed",
        ),
        ({"responses": [answer(("a", 1.0), timed_out=True)]}, "the search for the query in place 1 failed"),
        ({"responses": [answer(("a", 1.0), _shards={"failed": 1})]}, "or found a part only"),
        ({"q8": {"error": "x", "status": 404}, "q7": answer(("a", 1.0))}, "the search for the query q8 failed"),
        ({"q7": {"hits": {"hits": [{"_score": 1}]}}}, "not whole: responses of _search"),
        ({"metric_score": 1, "details": {}, "failures": {"q2": {"error": "x"}}}, "the search for the query q2 failed"),
        ({"requests": [{"id": "q1", "ratings": [{"_id": "a", "rating": 1}]}]}, "they hold no scores"),
        ({"responses": [answer()]}, "has no documents"),
        ({"q7": answer(("a", 1.0), ("a", 2.0))}, "document a comes again for query q7"),
        ([{"query_id": "q1", "results": [{"corpus_id": "a", "score": "x"}]}], "the score is not a number"),
        ({"mteb_model_meta": {}}, "not whole: predictions of MTEB"),
    ],
)
def test_an_answer_that_is_no_run_is_refused(tmp_path, content, problem):
    with pytest.raises(InputError, match=problem) as raised:
        run_of(content)
    assert raised.value.fix
    if isinstance(content, dict):
        (tmp_path / "a.json").write_text(json.dumps(content))
        with pytest.raises(InputError, match=problem) as raised:
            read_run(tmp_path / "a.json")
        assert "a.json" in str(raised.value)


def test_scores_alone_are_no_judgments():
    for name in ("msearch.json", "mteb.json", "sentence-transformers.jsonl"):
        with pytest.raises(InputError, match="they hold no grades"):
            read_qrels(FIXTURES / name)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("qid,docno,score\nq1,a,2\nq1,b,x\n", 3, "the score is not a number"),
        ("qid,docno,score\nq1,a,2\n\nq1,b,1e400\n", 4, "the score is not a number"),
        ("qid,docno,score\nq1,a,2\nq1,b\n", 3, "2 columns, not 3"),
        ("qid,docno,score\nq1,a,2\n,b,1\n", 3, "an id is missing"),
        ("qid\tdocno\tscore\nq1\ta\t2\nq1\tb\t1\nq1\ta\t1\n", 4, "document a comes again for query q1"),
        ('qid,docno,score\nq1,"a,2\n', 2, "not a table"),
        ("qid,docno,score\nq1,\xff,1\n", 2, "not UTF-8"),
        ("qid,docno,title\nq1,a,x\n", None, "no column of the score"),
        ("qid,docno,score\n", None, "has no lines"),
        ('{"query_id": "q1", "results": []}\n{"query_id": "q2", "res', 2, "not JSON"),
    ],
)
def test_a_fault_of_a_table_is_named(tmp_path, text, line, said):
    (tmp_path / "bad").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=said) as error:
        read_run(tmp_path / "bad")
    assert (error.value.line, bool(error.value.fix)) == (line, True)


def test_parquet_that_is_no_run_is_refused(tmp_path):
    frame = pd.DataFrame({"qid": [1, 1], "docno": ["a", None], "score": [1.0, 2.0]})
    for made, said in [
        (frame, "row 2: the document is missing"),
        (frame.assign(docno=["a", "b"], score=[1, np.nan]), "query 1, document b: the score is not a number"),
        (frame.assign(score=["x", "y"]), "not a table of a run"),
        (frame.assign(docno="a"), "document a comes again for query 1"),
        (frame.drop(columns="qid"), "no column of the query"),
    ]:
        made.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(InputError, match=said):
            read_run(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:200])
    with pytest.raises(InputError, match="not a table of a run"):
        read_run(tmp_path / "a.parquet")
    (tmp_path / "a.lz4").write_bytes((FIXTURES / "ranx-run.lz4").read_bytes()[:60])
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "a.lz4")


def test_ranks_stand_for_scores_where_a_table_has_none(tmp_path):
    frame = pd.DataFrame(
        {"Query-ID": [7, 7, 8], "doc_id": ["a", "b", "a"], "rank": [0, 1, 0], "label": [2.0, 0.0, 1.0]}
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert lists(read_run(tmp_path / "a.csv")) == lists(run_of(frame)) == {"7": {"a": 0, "b": -1}, "8": {"a": 0}}
    assert read_qrels(tmp_path / "a.csv").by_query == qrels_of(frame).by_query == {"7": {"a": 2, "b": 0}, "8": {"a": 1}}
    with pytest.raises(InputError, match="the grade is not a whole number"):
        qrels_of(frame.assign(label=0.5))


CELLS = st.one_of(
    st.sampled_from(
        ["q1", "7", "NA", "null", " x", '"', '"a', 'a"b', '"a,b"', '"a""b"', '"a\nb"', '""', "", "\t", "#"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=2),
)
NUMBER = st.one_of(
    st.floats(-9, 9).map(repr), st.sampled_from(["+1", " 2 ", "1_0", "nan", "1e400", "0x1", "", '"3"', ".5"])
)
WHOLE = st.sampled_from(["7", "NA", "null", " x", '"a,b"', '"a""b"', '"a\nb"', "#", "ü"])
GOOD = st.tuples(WHOLE, WHOLE, st.floats(-9, 9).map(repr), st.one_of(WHOLE, CELLS))
LINE = st.tuples(
    st.one_of(GOOD, GOOD, GOOD, GOOD, st.tuples(CELLS, CELLS, NUMBER, CELLS), st.lists(CELLS, max_size=5)),
    st.sampled_from(["\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n"]),
).map(lambda parts: ",".join(parts[0]) + parts[1])


def plainly_read(text):
    """Query, document and score of each row, by Python's reader; None at the first fault."""
    rows, known = [], set()
    try:
        for cells in list(csv.reader(io.StringIO(text.replace("\r\n", "\n"), newline=""), strict=True))[1:]:
            if len(cells) < 2 and not "".join(cells).strip():
                continue
            query, doc, score, _ = cells
            if not query or not doc or "_" in score or not np.isfinite(float(score)) or (query, doc) in known:
                return None
            known.add((query, doc))
            rows.append((query, doc, float(score)))
    except (ValueError, csv.Error):
        return None
    return sorted(rows) or None


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINE, max_size=5).map("".join), mark=st.booleans())
def test_rows_of_a_table_are_those_of_pythons_reader(tmp_path, lines, mark):
    text = "qid,docno,score,text\n" + lines
    (tmp_path / "a.csv").write_bytes(("\ufeff" * mark + text).encode())
    try:
        run = read_run(tmp_path / "a.csv")
        found = sorted(zip(run.query.tolist(), run.doc.tolist(), run.score.tolist(), strict=True))
    except InputError:
        found = None
    assert found == plainly_read(text if text.endswith("\n") else text + "\n")


def test_every_form_in_a_command_and_in_python(capsys):
    names = ["pyterrier.csv.gz", "ranx-run.lz4", "pyterrier.parquet", "pyserini.trec"]
    files = [str(FIXTURES / name) for name in names]
    for qrels in ("ranx-qrels.parquet", "rank_eval-qrels.json"):
        table = qdrank.evaluate(FIXTURES / qrels, *files, measures=["AP"]).frame()
        np.testing.assert_allclose(table["ap/trec"], [(1 / 2 + 1 / 2) / 3] * len(files))
        assert main(["evaluate", str(FIXTURES / qrels), *files, "--measure", "AP", "--format", "json"]) == 0
        said = json.loads(capsys.readouterr().out)["measures"]
        assert [one["mean"] for one in said] == table["ap/trec"].tolist()
    content = json.loads((FIXTURES / "rank_eval.json").read_text())
    assert qdrank.evaluate(content, content, measures=["AP"]).frame()["ap/trec"].tolist() == [0.75]
    assert main(["fuse", *files]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
