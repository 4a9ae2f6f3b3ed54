"""Every command of the documentation is run on tiny data: here those of qdrank, and the first steps with own data."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.datasets.judged import load_judged
from qdrank.workflow.config_files import load_yaml, resolve
from qdrank.workflow.recorded import recorded_text
from tests.workflow.documented import ELSEWHERE, NOT_RUN, documented, runs_elsewhere, to_run
from tests.workflow.project import Project, copy_project

#: What stands for the reader's data: the tiny study.
STANDS_FOR = {
    "results/mq2008/": "results/tiny/",
    "results/nfcorpus/": "results/tiny/",
    "runs/mine/results/": "results/",
}


def test_nothing_is_left_out(project: Path) -> None:
    """A command is run by these tests, by test_documented_runs.py, or listed with who runs it or why nobody does."""
    for command in documented(project):
        ran = to_run(project, "qdrank", "snakemake", "make", "source", "python")
        assert command in ran or runs_elsewhere(command) or any(re.fullmatch(p, command) for p in NOT_RUN), command
    for pattern in [*NOT_RUN, *ELSEWHERE]:
        assert any(re.fullmatch(pattern, command) for command in documented(project)), f"no such command: {pattern}"


def test_what_is_run_elsewhere_is_run_there(project: Path) -> None:
    ignored = re.findall(r"--ignore=([\w/]+)", (project / "pyproject.toml").read_text())
    for command in documented(project):
        where = runs_elsewhere(command)
        if where:
            assert re.search(where[1], (project / where[0]).read_text(), re.MULTILINE), command
        if command.startswith("pytest "):
            place = command.split()[1]
            assert (project / place).exists(), command
            assert not place.startswith(tuple(ignored)), command


@pytest.fixture
def desk(finished: Project, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the commands name: results, a file of new queries, scores, a configuration, a collection."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    for path in (finished.folder / "results").iterdir():
        (tmp_path / "results" / path.name).symlink_to(path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/finished").symlink_to(finished.folder)
    test = load_judged("results/tiny/judged.parquet").of_role("fold1", "test")
    rows = [" ".join(f"{i}:{value!r}" for i, value in enumerate(row, 1)) for row in test.X.tolist()]
    named = zip(test.y.tolist(), test.query, rows, test.doc_id, strict=True)
    text = "".join(f"{y} qid:{query} {row} #docid = {name}\n" for y, query, row, name in named)
    (tmp_path / "Fold1").mkdir()
    for name in ("new.txt", "test.txt", "Fold1/test.txt"):
        (tmp_path / name).write_text(text)
    (tmp_path / "scores.txt").write_text("".join(f"{row[0]!r}\n" for row in test.X.tolist()))
    tutorial = (project / "docs/tutorial.md").read_text()
    (tmp_path / "mine.yaml").write_text(re.findall(r"```yaml\n(.*?)```", tutorial, re.DOTALL)[0])
    shutil.copytree(project / "docs/studies", tmp_path / "docs/studies")
    collection(tmp_path)
    engines(tmp_path)
    return tmp_path


def collection(folder: Path) -> None:
    """A small text collection, and the configuration that its study would leave."""
    (folder / "results/mine").mkdir()
    (folder / "data/mine/qrels").mkdir(parents=True)
    documents = [{"_id": f"d{i}", "title": "eggs", "text": f"boil {i} eggs for six minutes"} for i in range(9)]
    (folder / "data/mine/corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in documents))
    (folder / "data/mine/queries.jsonl").write_text('{"_id": "q1", "text": "boil eggs"}\n')
    (folder / "data/mine/qrels/test.tsv").write_text("q1\td1\t1\n")
    (folder / "new.tsv").write_text("n1\thow long to boil eggs\n")
    (folder / "text.yaml").write_text("datasets: [mine]\nown: {mine: {kind: beir, folder: data/mine}}\n")
    settings = resolve(load_yaml(folder / "text.yaml"))
    (folder / "results/config.yaml").unlink(missing_ok=True)
    (folder / "results/config.yaml").write_text(recorded_text(["text.yaml"], settings.model_dump_json()))


def engines(folder: Path) -> None:
    """What search engines leave: judgments, runs in several forms, groups of queries."""
    pairs = [(f"q{q}", f"d{d}", (q * d + d) % 3) for q in range(12) for d in range(8)]
    (folder / "qrels.txt").write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in pairs))
    (folder / "groups.txt").write_text("".join(f"q{q} {'even' if q % 2 == 0 else 'odd'}\n" for q in range(12)))
    for i, name in enumerate(("a", "b", "bm25", "new", "old")):
        lines = [f"{query} Q0 {doc} 1 {(grade + int(doc[1]) * i) % 5} {name}\n" for query, doc, grade in pairs]
        (folder / f"{name}.run").write_text("".join(lines))
    (folder / "b.run.gz").write_bytes(gzip.compress((folder / "b.run").read_bytes()))
    (folder / "c.json").write_text(json.dumps({"q1": {"d1": 1.5, "d2": 0.5}}))


def test_commands_of_qdrank_run(desk: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All in one test: they are cheap, and the folder is not."""
    for command in to_run(project, "qdrank"):
        words = shlex.split(command)[1:]
        if words[0] == "rank" and "results/mine" in command:
            command = command.replace("results/mine", "results/tiny")
        for name, place in STANDS_FOR.items():
            command = command.replace(name, place)
        if words[0] == "features":  # leaves the rows of the tiny study where they are
            command = command.replace("new.txt", "features.txt")
        status = main(shlex.split(command)[1:])
        printed = capsys.readouterr()
        # The doctor may find something on this machine.
        assert status == 0 or (words[0] == "doctor" and "fix:" in printed.out + printed.err), (command, printed.err)
        if "--output" in command:
            assert (desk / shlex.split(command)[shlex.split(command).index("--output") + 1]).stat().st_size > 0, command
        else:
            assert printed.out, command


def test_the_steps_for_own_data_run(project: Path, tmp_path: Path) -> None:
    """The dry run of the tutorial, and the first tables of a feature file as docs/your-data.md has it."""
    fresh = copy_project(project, tmp_path)
    tutorial = (project / "docs/tutorial.md").read_text()
    (tmp_path / "mine.yaml").write_text(re.findall(r"```yaml\n(.*?)```", tutorial, re.DOTALL)[0])
    (dry,) = (command for command in to_run(project, "snakemake") if "--dry-run" in command)
    assert "score_geng" in fresh.snakemake(*shlex.split(dry)[1:])
    page = (project / "docs/your-data.md").read_text()
    (tmp_path / "mine.yaml").write_text(re.findall(r'```yaml title="mine.yaml"\n(.*?)```', page, re.DOTALL)[0])
    grades = [(q, d, (q * d) % 3) for q in range(30) for d in range(6)]
    rows = [f"{grade} qid:q{q} 1:{grade + d / 9} 2:{d} 3:{q % 4} #docid = d{d}\n" for q, d, grade in grades]
    (tmp_path / "ranking.txt").write_text("".join(rows))
    (first,) = (command for command in to_run(project, "snakemake") if "single_features" in command)
    printed = fresh.snakemake(*shlex.split(first)[1:])
    assert "runs/mine/results/DATASET/" in printed
    assert "bm25" in (tmp_path / "runs/mine/results/mine/tables/single-features.md").read_text()
