"""The benchmarks that the documentation names run at their smallest size; the others are loaded, so that their imports exist."""

import importlib.util
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import PROJECT
from tests.workflow.documented import documented

#: Options for the smallest size.
OPTIONS = {"bench_engine": "--quick"}
#: Constants for the smallest size, of the others.
CONSTANTS = {
    "bench_latency": {"SHAPES": {"small": (30, 6, (5, 8), 8)}, "QUERIES": 3, "ROUNDS": 1, "TRAINED": 2},
    "bench_ensembles": {"QUERIES": 3},
    "bench_atvt": {"REPEATS": 1},
    "bench_scale": {"TREES": 2},
}
COMMANDS = [command for command in documented(PROJECT) if command.startswith("python bench/bench_")]


def name_of(command: str) -> str:
    return Path(shlex.split(command)[1]).stem


def loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(path.parent), *sys.path])
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)  # where a dataclass looks for it
    spec.loader.exec_module(module)
    return module


@pytest.mark.full
@pytest.mark.parametrize("command", [c for c in COMMANDS if name_of(c) in OPTIONS])
def test_those_with_options_for_the_size(command: str) -> None:
    words = [*shlex.split(command)[1:], *OPTIONS[name_of(command)].split()]
    variables = os.environ | {"PYTHONPATH": str(PROJECT / "src")}
    ran = subprocess.run(
        [sys.executable, *words], cwd=PROJECT, env=variables, capture_output=True, text=True, check=True
    )
    assert "peak memory" in ran.stdout


@pytest.mark.full
@pytest.mark.parametrize("command", [c for c in COMMANDS if name_of(c) not in OPTIONS])
def test_those_of_constant_size_or_on_given_data(finished, command, monkeypatch, capsys):
    script, *files = shlex.split(command)[1:]
    module = loaded(PROJECT / script, monkeypatch)
    for constant, value in CONSTANTS[module.__name__].items():
        assert hasattr(module, constant)
        monkeypatch.setattr(module, constant, value)
    if files:
        module.bench(str(finished.folder / "results/tiny/judged.parquet"))
    elif module.__name__ == "bench_scale":  # each size in a process of its own, which is left out here
        module.run(module.Web(train=30, vali=5, test=5, documents=8, features=5), heads=True)
    else:
        module.main()
    printed = capsys.readouterr().out
    assert any(words in printed for words in ("tiny", "all of online", "peak memory"))


@pytest.mark.full
def test_a_finished_run_on_more_cores(finished, monkeypatch, capfd):
    """The jobs up to the k-NN graph, one of them with a time of its own; every job sleeps."""
    module = loaded(PROJECT / "bench/schedule.py", monkeypatch)
    graph = "results/tiny/fold1/neighbours.parquet"
    options = [str(finished.folder), "--configfile", str(PROJECT / "tests/configs/tiny.yaml"), "--target", graph]
    monkeypatch.setattr(sys, "argv", ["schedule.py", *options, "--cores", "16", "--seconds", "*/neighbours.parquet=9"])
    assert module.main() == 0
    printed = capfd.readouterr()
    assert "rule find_neighbours" in printed.err
    assert "s of work; the longest:" in printed.out
    assert 9 < int(printed.out.splitlines()[-1].split()[0]) < 120


@pytest.mark.full
def test_all_others_can_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """`make bench` runs every script of the folder but the one about a given run."""
    scripts = sorted(PROJECT.glob("bench/*.py"))
    assert {name_of(command) for command in COMMANDS} < {script.stem for script in scripts}
    for script in scripts:
        assert loaded(script, monkeypatch).__doc__
