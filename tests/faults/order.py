"""Which tests to run for a fault, and in which order: what is cheap and near first, whole runs of Snakemake last."""

import ast
import re
from functools import cache
from pathlib import Path

#: A test file that runs whole studies: it asks for one, or makes a copy of the project.
_WHOLE, _SHARED = re.compile(r"\b(finished|copy_project|Project)\b"), re.compile(r"\bfinished\b")
STAGES = ("near", "room", "others", "runs", "more runs")
_MODULE = re.compile(r"(qdrank(?:\.\w+)+)(?::\w+)?")


@cache
def imports(root: Path) -> dict[str, set[str]]:
    """For each module of the package and of the tests the modules that it imports, or names in a string."""
    files = {
        ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__"): path
        for base in (root / "src", root)
        for path in (base / ("qdrank" if base.name == "src" else "tests")).rglob("*.py")
    }
    used: dict[str, set[str]] = {name: set() for name in files}
    for name, path in files.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    used[name] |= {one.name for one in names}
                case ast.ImportFrom(module=str() as module, names=names):
                    used[name] |= {module, *(f"{module}.{one.name}" for one in names)}
                case ast.Constant(value=str() as text) if found := _MODULE.fullmatch(text):
                    used[name].add(found[1])
        used[name] &= files.keys() - {name}
    return used


def distances(used: dict[str, set[str]], module: str) -> dict[str, int]:
    """How many imports lead from a module to ``module``, for those from which some do."""
    far, ring = {module: 0}, {module}
    while ring:
        ring = {name for name, others in used.items() if others & ring} - far.keys()
        far |= dict.fromkeys(ring, max(far.values()) + 1)
    return far


def stages(root: Path, module: str) -> dict[str, list[str]]:
    """Test files by stage: those that import ``module``, others of its room, others that depend on it; readers of the shared run, others."""
    far = distances(imports(root), module)
    room, leaf = module.split(".")[1], module.rpartition(".")[2].strip("_")
    made: dict[str, list[tuple[bool, bool, bool, int, str]]] = {stage: [] for stage in STAGES}
    for path in (root / "tests").rglob("test_*.py"):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        folder, steps = name.split("/")[1], far.get(name[:-3].replace("/", "."))
        if folder in ("benchmarks", "cluster", "faults"):
            continue
        if _WHOLE.search(text):
            stage = "runs" if _SHARED.search(text) and folder != "workflow" else "more runs"
        elif steps is None:
            continue
        else:
            stage = "near" if steps == 1 else "room" if folder == room else "others"
        made[stage].append((folder != "golden", leaf not in path.stem, folder != room, steps or 99, name))
    return {stage: [one[-1] for one in sorted(files)] for stage, files in made.items()}


def stale(root: Path, module: str) -> set[str]:
    """Modules that compiled code of ``module`` may be part of, as Numba's cache calls their folders."""
    return {name.removeprefix("qdrank.").replace(".", "-") for name in distances(imports(root), module)}
