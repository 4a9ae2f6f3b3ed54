"""Every command of the documentation is run on tiny data, or listed here with the reason why it is not."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.config_files import load_yaml, resolve
from qdrank.datasets.judged import load_judged
from qdrank.recorded import recorded_text
from tests.workflow.project import Project, copy_project

PROGRAMS = ("snakemake", "qdrank", "make", "python", "pytest", "source")
#: Why a command is not run here; its words are checked by tests/test_commands_in_docs.py.
NOT_RUN = {
    r"make (run|test|setup|lint|bench|docs)\b.*": "sets up .venv with a download, then takes minutes; `make test` and `make lint` are how this test is run",
    r"source .venv/bin/activate": "a line for the reader's shell",
    r"pytest .*": "runs tests, of which this is one",
    r"python tests/benchmarks/.*": "measures for minutes; tests/benchmarks is not part of the tests",
    r"snakemake .*--workflow-profile .*": "needs a cluster: tests/cluster runs it on a real SLURM",
    r"snakemake .*--configfile config/letor.yaml.*": "needs data behind a licence page",
    r"snakemake .*--configfile config/scale.yaml.*": "takes hours",
    r"snakemake --cores (16|all|4 geng2008|4 geng_fig7)( --directory runs/mine --configfile config/first.yaml mine.yaml| --directory runs/mine --configfile mine.yaml)?": "a whole study: minutes; the fixture `finished` runs one on tiny data",
    r"snakemake --cores 2 geng --directory runs/mine --configfile mine.yaml": "a whole study: minutes; the tutorial's dry run of it is run here",
    r"snakemake --unlock": "tests/workflow/test_kills.py unlocks with it",
    r"snakemake --report results/report.html.*": "needs a finished run: tests/workflow/test_run.py makes the report of the tiny study",
}
#: What stands for the reader's data: the tiny study.
STANDS_FOR = {
    "results/mq2008/": "results/tiny/",
    "results/nfcorpus/": "results/tiny/",
    "runs/mine/results/": "results/",
    "critical-path runs/letor": "critical-path runs/finished",
}


def documented(project: Path) -> list[str]:
    """Commands in blocks of the documentation, each once: indented by four, or in a block of shell."""
    pages = [project / "README.md", project / "CONTRIBUTING.md", *sorted(project.glob("docs/**/*.md"))]
    found = (command for page in [*pages, project / "config/README.md"] for command in commands(page.read_text()))
    return list(dict.fromkeys(found))


def commands(text: str) -> Iterator[str]:
    fence: str | None = None
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fence = None if fence is not None else line.strip()[3:]
            continue
        shell = fence in ("sh", "bash", "console")
        match = re.match(rf"(?:    )?((?:{'|'.join(PROGRAMS)}) .*)", line.lstrip() if shell else line)
        if match and (shell or (fence is None and line.startswith("    "))):
            yield re.split(r"\s+# ", match[1])[0].strip()


def reason(command: str) -> str | None:
    return next((why for pattern, why in NOT_RUN.items() if re.fullmatch(pattern, command)), None)


def to_run(project: Path) -> list[str]:
    return [command for command in documented(project) if reason(command) is None]


def test_each_command_is_run_or_has_a_reason(project: Path) -> None:
    for command in to_run(project):
        assert command.startswith(("qdrank ", "snakemake --dry-run ", "snakemake --cores all single_features ")), (
            command
        )
    for pattern in NOT_RUN:
        assert any(re.fullmatch(pattern, command) for command in documented(project)), f"no such command: {pattern}"


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


def test_commands_of_qdrank_run(desk: Path, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All in one test: they are cheap, and the folder is not."""
    for command in (command for command in to_run(project) if command.startswith("qdrank ")):
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
    (dry,) = (command for command in to_run(project) if "--dry-run" in command)
    assert "score_geng" in fresh.snakemake(*shlex.split(dry)[1:])
    page = (project / "docs/your-data.md").read_text()
    (tmp_path / "mine.yaml").write_text(re.findall(r'```yaml title="mine.yaml"\n(.*?)```', page, re.DOTALL)[0])
    grades = [(q, d, (q * d) % 3) for q in range(30) for d in range(6)]
    rows = [f"{grade} qid:q{q} 1:{grade + d / 9} 2:{d} 3:{q % 4} #docid = d{d}\n" for q, d, grade in grades]
    (tmp_path / "ranking.txt").write_text("".join(rows))
    (first,) = (command for command in to_run(project) if "single_features" in command)
    printed = fresh.snakemake(*shlex.split(first)[1:])
    assert "runs/mine/results/DATASET/" in printed
    assert "bm25" in (tmp_path / "runs/mine/results/mine/tables/single-features.md").read_text()
