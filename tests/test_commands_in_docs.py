"""Commands in the documentation can be copied: their options, targets and files exist."""

import argparse
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from snakemake.cli import get_argument_parser

from qdrank.cli import COMMANDS, main
from qdrank.studies import STUDIES

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
