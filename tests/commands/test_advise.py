"""Advice on two run files, as a new user would ask for it; and fusing by stored weights."""

import json
from dataclasses import replace

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.commands.fuse import fuse_by_models
from qdrank.datasets.runs.reading import read_run
from qdrank.datasets.runs.run import judged_runs
from qdrank.datasets.runs.writing import write_qrels, write_run
from qdrank.datasets.simulated.features import two_runs
from qdrank.errors import InputError
from qdrank.learners.fusion import fuse
from qdrank.rankers.documents import DocumentView
from qdrank.rankers.run_weights import FixedWeights
from qdrank.rankers.served import ServedRuns, write_ranker


@pytest.fixture
def written(tmp_path):
    def write(**options):
        runs, qrels = two_runs(documents=25, **options)
        for one in runs:
            write_run(tmp_path / f"{one.tag}.run", one.query, one.doc, one.score, tag=one.tag)
        write_qrels(tmp_path / "qrels", qrels.query, qrels.doc, qrels.grade)
        return [str(tmp_path / name) for name in ("qrels", "first.run", "second.run")]

    return write


def test_a_world_of_its_kind_is_found(written, capsys):
    assert main(["advise", *written(queries=300, dependence=0.6)]) == 0
    said = capsys.readouterr().out
    assert "worth it: YES" in said
    assert "normalization-processor" in said
    assert len(said.splitlines()) < 24


def test_the_negative_control_is_not_found(written, capsys):
    assert main(["advise", *written(queries=300, dependence=0.0), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] != "yes"
    assert said["needed"] > 300
    processor = said["opensearch"]["phase_results_processors"][0]["normalization-processor"]
    assert sum(processor["combination"]["parameters"]["weights"]) == pytest.approx(1)
    assert (np.array(said["low"]) <= said["weights"]).all()


def test_queries_may_be_similar_by_the_meaning_of_their_words(written, tmp_path, capsys):
    """Words say which run is good for a query: an encoder that reads them finds weights that the runs do not show."""
    pytest.importorskip("onnxruntime")
    from tests.text.tiny_encoder import write_encoder

    rng = np.random.default_rng(1)
    good = {"first": rng.random(200) < 0.5}
    good["second"] = ~good["first"]
    relevant = rng.integers(0, 10, 200)
    for tag in ("first", "second"):
        scores = rng.permuted(np.tile(np.linspace(0, 1, 10), (200, 1)), axis=1)
        best = np.argmax(scores, axis=1)
        taken = np.where(good[tag], relevant, best)
        rows = np.arange(200)
        scores[rows, best], scores[rows, taken] = scores[rows, taken], scores[rows, best].copy()
        names = [np.repeat([f"q{i}" for i in rows], 10), np.tile([f"d{i}" for i in range(10)], 200)]
        write_run(tmp_path / f"{tag}.run", *names, scores.ravel(), tag=tag)
    write_qrels(tmp_path / "qrels", [f"q{i}" for i in range(200)], [f"d{i}" for i in relevant], np.ones(200, dtype=int))
    said = "".join(f"q{i}\t{'zebra lion' if one else 'piano violin'}\n" for i, one in enumerate(good["first"]))
    (tmp_path / "words.txt").write_text(said)
    encoder = ["--queries", str(tmp_path / "words.txt"), "--encoder", str(write_encoder(tmp_path / "encoder"))]
    files, gains = [str(tmp_path / name) for name in ("qrels", "first.run", "second.run")], []
    for given in ([], encoder):
        assert main(["advise", *files, "--format", "json", *given]) == 0
        found = json.loads(capsys.readouterr().out)
        gains.append(found["gain"])
    assert gains[1] > gains[0] + 0.05
    assert found["verdict"] == "yes"
    assert set(found["by"]) == {"similar queries"}
    assert main(["advise", *files, *encoder[:2]]) == 2
    assert "an encoder" in capsys.readouterr().err
    (tmp_path / "words.txt").write_text("q0\tzebra\n")
    assert main(["advise", *files, *encoder]) == 2
    assert "is not among the queries given" in capsys.readouterr().err


def test_what_cannot_be_computed_is_null_in_json(written, capsys):
    assert main(["advise", *written(queries=12), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert said["gain_interval"] == [None, None]


def test_mistakes_are_named(written, capsys):
    files = written(queries=300)
    assert main(["advise", *files[:2]]) == 2
    assert "two runs or more" in capsys.readouterr().err
    assert main(["advise", *files, "--margin", "0"]) == 2
    assert main(["advise", *written(queries=6)]) == 2
    assert "too few judged queries" in capsys.readouterr().err


def test_stored_weights_fuse_new_runs(written, tmp_path):
    files = written(queries=20)
    runs, qrels = two_runs(queries=20, documents=25)
    judged = judged_runs(runs, qrels, dict.fromkeys(qrels.by_query, "train"), max_label=1).judged
    ranker = FixedWeights().fit(judged, np.zeros((20, 0)))
    view = DocumentView(minmax=False, missing=False, fill=None, mean=np.zeros(10), inverse=np.ones(10))
    served = ServedRuns(method="w", fold="fold1", documents=view, ranker=ranker, tags=("first", "second"))
    write_ranker(tmp_path / "weights.parquet", served)
    new = [read_run(path) for path in files[1:]]
    fused = fuse_by_models(new[::-1], str(tmp_path / "weights.parquet"), "fused")  # known by their tags, in any order
    plain = fuse(new, "weights", weights=ranker.tuned.tolist())
    assert fused.query.tolist() == plain.query.tolist()
    assert (fused.doc == plain.doc).mean() > 0.99  # columns are kept in single precision
    with pytest.raises(InputError, match="fuses the runs first, second"):
        fuse_by_models([new[0], replace(new[1], tag="third")], str(tmp_path / "weights.parquet"), "fused")
