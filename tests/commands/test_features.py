"""`qdrank features`: new text queries get the features that a study would give them."""

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
import yaml

from qdrank.cli import main
from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.judged import Judged
from qdrank.datasets.letor import load_letor
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.datasets.runs.run import system_runs
from qdrank.rankers import FIRST_STAGES
from qdrank.rankers.documents import FoldDocuments
from qdrank.rankers.first_stage import write_first_stages
from qdrank.rankers.served import OneFeature, ServedRanker, write_ranker
from qdrank.store import read, write
from qdrank.text.extract import judged_text, text_settings
from qdrank.text.index import analyse_queries, build_index, count_matrix
from qdrank.text.retrieve import retrieve
from qdrank.workflow.config_files import resolve
from qdrank.workflow.recorded import recorded_text

WORDS = ["wing", "flow", "heat", "lift", "drag", "mach", "layer", "shock"]
OWN = {"kind": "beir", "folder": "collection"}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection, and the configuration that a run of it leaves."""
    folder = tmp_path / "collection"
    (folder / "qrels").mkdir(parents=True)
    documents = [
        {"_id": f"d{i:02d}", "title": WORDS[i % 8], "text": f"{WORDS[(i * 3 + 1) % 8]} {WORDS[(i * 5 + 2) % 8]} more"}
        for i in range(24)
    ]
    queries = [{"_id": f"q{i}", "text": f"{WORDS[i % 8]} {WORDS[(i + 3) % 8]}"} for i in range(10)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    (folder / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    rows = [f"q{i}\td{j:02d}\t1\n" for i in range(10) for j in (i, i + 8)]
    (folder / "qrels" / "test.tsv").write_text("".join(rows))
    settings = resolve({"datasets": ["mine"], "own": {"mine": OWN}, "text": {"candidates": 7, "stemmer": "porter"}})
    (tmp_path / "results" / "mine").mkdir(parents=True)
    text = recorded_text(["mine.yaml"], yaml.safe_dump(settings.model_dump(mode="json")))
    (tmp_path / "results" / "config.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


FORMS = {
    "tabs": lambda queries: "".join(f"{q['_id']}\t{q['text']}\n" for q in queries),
    "beir": lambda queries: "".join(json.dumps(q) + "\n" for q in queries),
    "smart": lambda queries: "".join(f".I {q['_id']}\n.W\n{q['text']}\n" for q in queries),
    "trec": lambda queries: "".join(f"<top><num>{q['_id']}<title>{q['text']}</top>\n" for q in queries),
}


@pytest.mark.parametrize("form", FORMS)
def test_they_are_those_that_the_study_computes(study: Path, form: str) -> None:
    queries = [json.loads(line) for line in (study / "collection" / "queries.jsonl").read_text().splitlines()]
    Path("new.txt").write_text(FORMS[form](queries))
    arguments = ["--data", "results/mine", "--queries", "new.txt", "--output", "features.txt", "--topics", "t.parquet"]
    assert main(["features", *arguments]) == 0
    found = load_letor("features.txt")
    options = yaml.safe_load(Path("results/config.yaml").read_text())["text"]
    own = judged_text(read_collection("beir", "collection"), text_settings(options, 1))
    assert found.query.tolist() == own.judged["query_id"].to_pylist()
    assert found.doc_id.tolist() == own.judged["doc_id"].to_pylist()
    X = own.judged["features"].combine_chunks().flatten().to_numpy().reshape(own.judged.num_rows, -1)
    assert np.array_equal(found.X, X)
    topics = read("t.parquet", "topics")
    assert topics["query_columns"].to_pylist() == own.topics["query_columns"].to_pylist()


def test_the_index_is_kept_until_the_texts_change(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("new.txt").write_text("a\twing lift\n")
    arguments = ["features", "--data", "results/mine", "--queries", "new.txt", "--output"]
    assert main([*arguments, "first.txt"]) == 0
    analysed = []
    monkeypatch.setattr("qdrank.text.index.count_matrix", lambda tokens: analysed.append(1) or count_matrix(tokens))
    assert main([*arguments, "second.txt"]) == 0
    assert Path("second.txt").read_bytes() == Path("first.txt").read_bytes()
    assert not analysed
    corpus = study / "collection" / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace(" more", " wing"))
    assert main([*arguments, "third.txt"]) == 0
    assert analysed == [1]
    assert Path("third.txt").read_bytes() != Path("first.txt").read_bytes()
    Path("results/mine/.index.npz").write_bytes(b"damaged")
    assert main([*arguments, "fourth.txt"]) == 0
    assert Path("fourth.txt").read_bytes() == Path("third.txt").read_bytes()


def test_documents_that_answered_such_a_query_become_candidates(study: Path) -> None:
    """Documents d03 and d11 answered a query with these words; the new word is none of their own."""
    lines = (study / "collection" / "queries.jsonl").read_text().splitlines()
    lines[3] = json.dumps({"_id": "q3", "text": "aerofoil"})
    (study / "collection" / "queries.jsonl").write_text("\n".join(lines) + "\n")
    Path("new.txt").write_text("a\taerofoil mach\n")
    arguments = ["features", "--data", "results/mine", "--queries", "new.txt", "--output"]
    assert main([*arguments, "plain.txt"]) == 0
    assert main([*arguments, "more.txt", "--past", "2"]) == 0
    plain, more = load_letor("plain.txt"), load_letor("more.txt")
    assert set(more.doc_id) >= {*plain.doc_id, "d03", "d11"}
    assert len(more.doc_id) <= len(plain.doc_id) + 2
    kept = np.isin(more.doc_id, plain.doc_id)
    assert np.array_equal(more.X[kept], plain.X), "features of the others are the same"
    assert main([*arguments, "more.txt", "--past", "-1"]) == 2


def test_they_are_ranked_in_one_step(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`rank --queries --past` gives the scores of `features --past` and `rank --input`, the documents brought among them."""
    Path("new.txt").write_text("a\twing lift\nb\taerofoil mach\n")
    lines = (study / "collection" / "queries.jsonl").read_text().splitlines()
    lines[3] = json.dumps({"_id": "q3", "text": "aerofoil"})
    (study / "collection" / "queries.jsonl").write_text("\n".join(lines) + "\n")
    asked = ["--queries", "new.txt", "--past", "2"]
    assert main(["features", "--data", "results/mine", *asked, "--output", "f.txt", "--topics", "t.parquet"]) == 0
    new = load_letor("f.txt")
    width = new.X.shape[1]
    view = FoldDocuments({"all": new}, np.zeros(width), np.ones(width)).view()
    ranker = OneFeature(column=0).fit(new, np.zeros((2, 0)))
    served = ServedRanker(method="feature", fold="fold1", documents=view, ranker=ranker)
    write_ranker("results/mine/fold1/served/feature.parquet", served)
    usual = ["rank", "--models", "results/mine/fold1", "--method", "feature", "--format", "trec", "--output"]
    assert main([*usual, "two.run", "--input", "f.txt", "--topics", "t.parquet"]) == 0
    assert main([*usual, "one.run", *asked]) == 0
    assert Path("one.run").read_bytes() == Path("two.run").read_bytes()
    assert {"d03", "d11"} <= {line.split()[2] for line in Path("one.run").read_text().splitlines()}
    assert main([*usual, "no.run", "--input", "f.txt", "--past", "2"]) == 2
    assert "give --queries" in capsys.readouterr().err
    assert main([*usual, "no.run"]) == 2
    assert "nothing is given to rank" in capsys.readouterr().err
    assert not Path("no.run").exists()


def test_a_configuration_of_another_version_is_understood_where_it_says_what_was_read(study: Path) -> None:
    config = study / "results" / "config.yaml"
    config.write_text(config.read_text() + "key_of_another_version: 1\n")
    (study / "new.tsv").write_text("n1\twing drag\n")
    words = ["features", "--data", "results/mine", "--queries", "new.tsv", "--output", "new.txt"]
    assert main(words) == 0
    assert (study / "new.txt").exists()


def test_queries_without_a_document_are_named(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.txt").write_text("a\twing lift\nb\tzyx\n")
    assert main(["features", "--data", "results/mine", "--queries", "new.txt", "--output", "features.txt"]) == 0
    assert "no document has a word of it: b" in capsys.readouterr().err
    assert set(load_letor("features.txt").query_id) == {"a"}


@pytest.mark.parametrize("form", FORMS)
def test_queries_and_features_may_go_through_a_pipe(study: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = FORMS[form]([{"_id": "a", "text": "wing lift"}])
    os.mkfifo("pipe")
    threading.Thread(target=Path("pipe").write_text, args=(text,), daemon=True).start()
    assert main(["features", "--data", "results/mine", "--queries", "pipe", "--output", "piped.txt"]) == 0
    Path("new.txt").write_text(text)
    assert main(["features", "--data", "results/mine", "--queries", "new.txt", "--output", "filed.txt"]) == 0
    assert Path("piped.txt").read_bytes() == Path("filed.txt").read_bytes()
    capsys.readouterr()
    assert main(["features", "--data", "results/mine", "--queries", "new.txt", "--output", "-"]) == 0
    assert capsys.readouterr().out == Path("filed.txt").read_text()


@pytest.mark.parametrize(
    ("queries", "arguments", "words"),
    [
        ("a wing\n", [], "line 1: no tab after the id"),
        ("a\twing\na\tlift\n", [], "comes twice"),
        ("", [], "has no queries"),
        ("b\tzyx\n", [], "no word of any query occurs"),
        ("a\twing\n", ["--output", "nowhere/features.txt"], "nowhere: no such folder"),
        ("a\twing\n", ["--data", "elsewhere/mine"], "no configuration beside the results"),
    ],
)
def test_wrong_input_is_told_in_words(study, capsys, queries, arguments, words):
    Path("new.txt").write_text(queries)
    usual = ["--data", "results/mine", "--queries", "new.txt", "--output", "features.txt"]
    assert main(["features", *usual, *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not Path("features.txt").exists()


def test_first_stages_are_written_as_runs(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retrieve", "collection", "--output", "runs/mine", "--depth", "5"]) == 0
    assert "10 queries" in capsys.readouterr().out
    runs = {run.tag: run for run in read_all_runs(sorted(Path("runs/mine/runs").iterdir()))}
    assert sorted(runs) == ["bm25", "lsa", "rm3"]
    collection = read_collection("beir", "collection")
    index = build_index(collection.documents)
    expected = retrieve(index.field("both"), analyse_queries(index, [collection.queries[0].text]), n_top=5)
    first = runs["bm25"].doc[: runs["bm25"].offsets[1]].tolist()
    assert first == [index.doc_id[i] for i in expected.document[0] if i >= 0]
    assert len(read_qrels("runs/mine/qrels.txt").grade) == 20
    assert Path("runs/mine/queries.txt").read_text().startswith("q0\twing lift\n")
    with Path("collection/qrels/test.tsv").open("a") as file:
        file.write("q0\tgone\t1\nq1\tlost\t1\n")
    assert main(["retrieve", "collection", "--output", "runs/mine"]) == 0
    assert "judgment of an unknown document, left out: 2 (gone, lost)" in capsys.readouterr().err
    assert main(["retrieve", "nothing", "--output", "runs"]) == 2
    assert main(["retrieve", "sim1", "--output", "runs"]) == 2
    assert "kind simulated" in capsys.readouterr().err


def test_systems_to_aggregate_are_runs() -> None:
    ranks = Judged(
        query_id=np.array(["1", "2"], dtype=object),
        part=np.array(["S1", "S2"], dtype=object),
        offsets=np.array([0, 2, 3]),
        doc_id=np.array(["a", "b", "a"], dtype=object),
        y=np.array([0, 1, 2]),
        X=np.array([[2, np.nan, np.nan], [1, 4, np.nan], [np.nan, 1, np.nan]], dtype=np.float32),
    )
    runs = list(system_runs(ranks))
    assert [run.tag for run in runs] == ["system-1", "system-2"]  # nothing is ranked by the third
    assert runs[0].score.tolist() == [-2, -1]
    assert runs[1].doc.tolist() == ["b", "a"]
    assert next(iter(system_runs(ranks, "high"))).score.tolist() == [2, 1]


GRID = {"tried_k1": [0.3, 2.0], "tried_b": [0.0, 0.9], "feedback": {"documents": [2], "terms": [3], "weight": [0.5]}}


def test_a_first_stage_is_served_and_shipped(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What it finds for test queries is what its fold found; a model of all folds has the settings of most."""
    settings = resolve({"datasets": ["mine"], "text": {"candidates": 7, "stemmer": "porter", **GRID}})
    options, text = {"like": "beir", "folder": str(study / "collection")}, settings.text.model_dump()
    made = judged_text(read_collection(**options), text_settings(text, 1))
    write("results/mine/judged.parquet", "judged", made.judged)
    for fold in ("fold1", "fold2"):
        places = {name: f"results/mine/{fold}/scores/{name}.parquet" for name in FIRST_STAGES}
        places |= {f"served_{name}": f"results/mine/{fold}/served/{name}.parquet" for name in FIRST_STAGES}
        out = {**places, "choices": f"results/mine/{fold}/first_stages.parquet"}
        files = {"judged": "results/mine/judged.parquet"}
        write_first_stages(files, out, fold, options=options, settings=text, measure="ap", seed=1)
    for name in ("bm25-tuned", "rm3"):
        found = ["rank", "--models", "results/mine/fold1", "--method", name, "--queries", "collection/queries.jsonl"]
        assert main([*found, "--format", "trec", "--output", "found.run"]) == 0
        run = read_all_runs(["found.run"])[0]
        ours = {(q, d): s for q, d, s in zip(run.query, run.doc, run.score, strict=True)}
        scores = read(f"results/mine/fold1/scores/{name}.parquet", "scores").to_pylist()
        assert {(row["query_id"], row["doc_id"]): row["score"] for row in scores}.items() <= ours.items()
        assert main(found) == 2
        assert "add --format trec" in capsys.readouterr().err
        assert main(["fit", "--models", "results/mine", "--method", name, "--output", "first.model"]) == 0
        assert "settings of fold1" in capsys.readouterr().err
        shipped = ["rank", "--models", "first.model", "--queries", "collection/queries.jsonl", "--format", "trec"]
        assert main([*shipped, "--data", "results/mine", "--output", "shipped.run"]) == 0
        assert Path("shipped.run").read_bytes() == Path("found.run").read_bytes()
    Path("rows.txt").write_text("0 qid:1 1:1\n")
    assert main(["rank", "--models", "first.model", "--input", "rows.txt"]) == 2
    assert "searches the collection, and ranks no rows of features" in capsys.readouterr().err
