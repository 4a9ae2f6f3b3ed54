"""The documentation says what is there: its picture, its list of rooms, its links, the targets it names."""

import argparse
import importlib.util
import pydoc
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from snakemake.cli import get_argument_parser

from qdrank.cli import COMMANDS, main
from qdrank.studies import STUDIES
from tests.pages.browser import browser, installed
from tests.test_house import ROOMS


@pytest.fixture(scope="module")
def drawing(project: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("rulegraph", project / "docs" / "rulegraph.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(project: Path) -> list[Path]:
    return [*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "config").glob("*.md")]


def test_the_picture_is_that_of_the_workflow(drawing: ModuleType) -> None:
    picture = drawing.mermaid(drawing.rulegraph())
    assert "    train_local --> score_geng\n" in picture
    assert drawing.PAGE.read_text() == drawing.page_with(picture), "out of step: run `make picture`"
    assert drawing.RULES.read_text() == drawing.emitted(), "out of step: run `make picture`"


def test_the_rooms_are_those_that_are_checked(project: Path) -> None:
    text = (project / "docs" / "architecture.md").read_text().partition("## The rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    assert [tuple(re.findall(r"`(\w+)`", row)) for row in rows] == ROOMS


def test_links_lead_to_files(project: Path) -> None:
    for page in pages(project):
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.relative_to(project)} links to {link}"


def test_every_page_is_reached_from_the_readme(project: Path) -> None:
    start = (project / "README.md").resolve()
    found, new = {start}, [start]
    while new:
        page = new.pop()
        links = (page.parent / link for link in re.findall(r"\]\((?!https?:)([^)#\s]+\.md)", page.read_text()))
        fresh = {link.resolve() for link in links if link.exists()} - found
        found, new = found | fresh, [*new, *fresh]
    assert {page.resolve() for page in pages(project)} - found == set()


def test_the_search_of_the_site_asks_for_nothing_outside(project: Path) -> None:
    """Without a script of this name, the plugin would fetch one from elsewhere."""
    site = yaml.safe_load((project / "mkdocs.yml").read_text())
    assert {"search", "offline"} <= {name for name in site["plugins"] if isinstance(name, str)}
    (script,) = site["extra"]["polyfills"]
    assert "iframe-worker" in script
    assert (project / "docs" / script).is_file()


@pytest.mark.skipif(installed() is None, reason="no Chromium here (on Debian: apt-get install chromium)")
def test_a_page_that_is_opened_as_a_file_gets_a_worker(project: Path, tmp_path: Path) -> None:
    shutil.copy(project / "docs/iframe-worker.js", tmp_path)
    (tmp_path / "worker.js").write_text("addEventListener('message', (event) => postMessage(event.data + 1))")
    (tmp_path / "page.html").write_text(
        "<!DOCTYPE html><body><script src=iframe-worker.js></script><script>"
        "const worker = new Worker('worker.js'); worker.addEventListener('message', (event) => { window.got = event.data });"
        "worker.postMessage(41)</script></body>"
    )
    with browser() as shown:
        shown.open(tmp_path / "page.html", width=400)
        shown.wait("window.got === 42")
        assert shown.problems == []


def test_methods_named_on_the_python_page_exist(project: Path) -> None:
    page = (project / "docs" / "api.md").read_text()
    classes = {target.rpartition(".")[2]: target for target in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    named = set(re.findall(r"`([A-Z]\w+)\.(\w+)", page))
    assert named
    for name, method in named:
        assert hasattr(pydoc.locate(classes[name]), method), f"{name}.{method}"


#: Files that the reader writes.
MADE_BY_THE_READER = ("changed.yaml", "mine.yaml", "ranking.py")


def texts(project: Path) -> list[Path]:
    return [
        project / "README.md",
        *project.glob("docs/**/*.md"),
        *project.glob("config/*.md"),
        *project.glob("config/*.yaml"),
    ]


def commands(project: Path, name: str) -> list[str]:
    found = []
    for path in texts(project):
        for line in path.read_text().splitlines():
            inline = re.findall(rf"`({name} [^`]*)`", line)
            block = re.findall(rf"^(?:    |# .*: |\\$ |)({name} [^`]*)$", line)
            found += [command.partition("  #")[0].strip() for command in [*inline, *block]]
    return found


def test_snakemake_understands_every_command(project: Path, tmp_path: Path) -> None:
    """Options are Snakemake's, configuration files exist, and targets are rules or files that a rule makes."""
    # In a folder of its own: a run in the project's folder, at the same time, has no part in it.
    listing = [sys.executable, "-m", "snakemake", "--snakefile", project / "Snakefile", "--directory", tmp_path]
    ran = subprocess.run([*listing, "--list-rules", "--quiet", "all"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rules = ran.stdout.split()
    parser = get_argument_parser()
    for command in dict.fromkeys(commands(project, "snakemake")):
        # An option that Snakemake does not know ends here.
        args = parser.parse_args(shlex.split(command)[1:])
        for target in args.targets:
            assert target in rules or target.startswith("results/"), command
        for file in args.configfile or []:
            assert (project / file).is_file() or file.name in MADE_BY_THE_READER, command
        for profile in filter(None, [args.workflow_profile]):
            assert (project / profile).exists(), command


def test_qdrank_understands_every_command(project: Path) -> None:
    for command in dict.fromkeys(commands(project, "qdrank")):
        words = shlex.split(command.replace("...", ""))[1:]
        if len(words) < 2 or words[0].startswith("-"):
            continue  # the command as a name, in a sentence
        parser = argparse.ArgumentParser(exit_on_error=False)
        import_module(f"qdrank.commands.{words[0]}").add_arguments(parser)
        for action in parser._actions:  # a sentence may show one option of several that are needed
            action.required = action.required and not action.option_strings
        parser.parse_args(words[1:])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example_that_it_takes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    help_text, example = capsys.readouterr().out, COMMANDS[command][1]
    assert left.value.code == 0
    assert f"  qdrank {command} {example}\n" in help_text
    assert "exit status:" in help_text
    parser = argparse.ArgumentParser()
    import_module(f"qdrank.commands.{command}").add_arguments(parser)
    parser.parse_args(shlex.split(example))


@pytest.mark.parametrize(
    ("command", "printed"),
    [("datasets", "mq2008"), ("datasets mq2008", "\nkind  "), ("config check config/first.yaml", "studies")],
)
def test_commands_that_need_no_results_run(project, command, printed, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main(command.split()) == 0
    assert printed in capsys.readouterr().out


def test_make_and_scripts_exist(project: Path) -> None:
    targets = re.findall(r"^([a-z-]+):.*##", (project / "Makefile").read_text(), re.MULTILINE)
    for command in commands(project, "make"):
        assert all(word in targets or "=" in word for word in command.split()[1:2]), command
        for key, value in (word.split("=") for word in shlex.split(command)[1:] if "=" in word):
            assert key in ("CONFIG", "DIRECTORY", "PYTHON", "STUDY"), command
            assert key != "CONFIG" or value == "file" or (project / value).is_file(), command
            assert key != "STUDY" or value in {STUDIES[name].short for name in STUDIES}, command
    for command in commands(project, "python"):
        assert (project / command.split()[1]).is_file() or command.split()[1] in MADE_BY_THE_READER, command


@pytest.mark.parametrize(
    ("page", "printed"),
    [("README.md", "ndcg@10/exp"), ("docs/tutorial.md", "mean gain of the local models"), ("docs/api.md", "(200,)")],
)
def test_python_of_the_first_pages_runs(project, page, printed, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the files that README names, as small as can be
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    for name in ("rm3", "bm25"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 d1 1 2 {name}\nq1 Q0 d2 2 1 {name}\n")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", (project / page).read_text(), re.DOTALL):
        exec(compile(block, page, "exec"), names)
    out = capsys.readouterr().out
    assert printed in out
    # What the tutorial says that it prints; its third block is about a run.
    for block in re.findall(r"```text\n(.*?)```", (project / page).read_text(), re.DOTALL)[:2]:
        assert block in out, page
