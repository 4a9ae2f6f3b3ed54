"""Rules of the house that a reader cannot be asked to remember."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from qdrank.provenance import imported_modules

# From the base up: a room may use those before it.
ROOMS = [
    ("errors", "groups", "registry", "provenance", "jobs"),
    ("store",),
    ("measures",),
    ("datasets",),
    ("text",),
    ("queries",),
    ("learners",),
    ("rankers",),
    ("evaluation",),
    ("figures",),
    ("config", "config_files", "config_command", "rank_command", "plan", "cli"),
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def modules(project: Path) -> list[Path]:
    return sorted((project / "src" / "qdrank").rglob("*.py"))


def test_every_module_has_a_room(project: Path) -> None:
    source = project / "src" / "qdrank"
    rooms = {path.relative_to(source).parts[0].removesuffix(".py") for path in modules(project)} - {"__init__"}
    assert rooms == set(LEVEL)


def test_no_lower_room_uses_an_upper_one(project: Path) -> None:
    source = project / "src" / "qdrank"
    wrong = []
    for path in modules(project):
        room = path.relative_to(source).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            used = {name.split(".")[1] for name in names if name.startswith("qdrank.")}
            wrong += [f"{path.name} uses {u}" for u in used if LEVEL[u] > LEVEL.get(room, 0)]
    assert not wrong


def test_rules_and_scripts_have_the_same_names(project: Path) -> None:
    rules = "".join(path.read_text() for path in (project / "workflow" / "rules").glob("*.smk"))
    used = set(re.findall(r"scripts/(\w+)\.py", rules))
    assert used == {path.stem for path in (project / "scripts").glob("*.py")}
    for name in used:
        assert f"rule {name}:" in rules, name


def test_every_rule_is_complete(project: Path) -> None:
    for file in (project / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^(?:rule|checkpoint) ", file.read_text(), flags=re.MULTILINE)[1:]:
            if "script:" not in rule:
                continue
            for part in (
                '"""',
                "log:",
                "benchmark:",
                "threads:",
                "resources:",
                "mem_mb",
                "runtime",
                "code=code(",
                "conda:",
            ):
                assert part in rule, f"{file.name}: rule {rule.split(':')[0]} lacks {part}"


def test_scripts_do_not_depend_on_the_configuration(project: Path) -> None:
    """Else an edited default would rerun everything; what matters to a job comes as params."""
    for script in (project / "scripts").glob("*.py"):
        assert not {"qdrank.config", "qdrank.config_files", "qdrank.plan"} & imported_modules(script), script.name


@pytest.mark.parametrize("module", ["qdrank.plan", "qdrank.config_files", "qdrank.provenance", "qdrank.measures.names"])
def test_what_the_snakefile_imports_is_light(module: str) -> None:
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib", "pyarrow", "lightgbm"]
    code = f"import {module}, sys; print(*(m for m in {heavy} if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_environment_files_are_in_step_with_the_lock(project: Path) -> None:
    code = "import runpy; print(runpy.run_path('envs/generate.py')['environment'](), end='')"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project).stdout
    assert (project / "envs" / "qdrank.yaml").read_text() == made


def test_the_lock_is_hashed_and_names_no_address(project: Path) -> None:
    for name in ("run", "dev"):
        text = (project / "requirements" / f"{name}.txt").read_text()
        entries = re.findall(r"^[a-z0-9][^\n]*==(?:[^\n]*\\\n)+[^\n]*", text, re.MULTILINE)
        assert len(entries) > 50
        assert all("--hash=sha256:" in entry for entry in entries)
        assert "://" not in text
        for line in (project / "requirements" / f"{name}.in").read_text().splitlines():
            wanted = re.match(r"[A-Za-z][\w-]*", line)
            assert not wanted or re.search(rf"^{re.escape(wanted[0].lower())}==", text, re.MULTILINE), line


def test_no_pickle_and_no_eval(project: Path) -> None:
    for path in [*modules(project), *(project / "scripts").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "cloudpickle", "joblib", "marshal", "shelve"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path
