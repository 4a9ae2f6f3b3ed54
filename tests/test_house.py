"""Rules of the house that a reader cannot be asked to remember."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from qdrank.datasets.sources import load
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import load_yaml, resolve
from qdrank.workflow.provenance import code_modules

# From the base up: a room may use those before it.
ROOMS = [
    ("errors", "layout", "registry", "jobs", "kernel_locator", "project", "single_precision"),
    ("store",),
    ("run_results",),
    ("measures",),
    ("sections",),
    ("datasets",),
    ("text",),
    ("queries",),
    ("learners",),
    ("rankers",),
    ("evaluation",),
    ("figures",),
    ("studies",),
    ("workflow",),
    ("pages",),
    ("serving",),
    ("commands", "cli"),
    ("python",),
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def modules(project: Path) -> list[Path]:
    return sorted((project / "src" / "qdrank").rglob("*.py"))


def test_no_lower_room_uses_an_upper_one(project: Path) -> None:
    source = project / "src" / "qdrank"
    wrong = []
    for path in modules(project):
        room = path.relative_to(source).parts[0].removesuffix(".py")
        assert room in {*LEVEL, "__init__"}, "a module without a room"
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            used = {name.split(".")[1] for name in names if name.startswith("qdrank.")}
            wrong += [f"{path.name} uses {u}" for u in used if LEVEL[u] > LEVEL.get(room, 0)]
    assert not wrong


def import_graph(source: Path) -> dict[str, set[str]]:
    """For each module below ``source``, the modules that it imports anywhere: at the top, in functions, for types only."""
    files = {".".join(path.relative_to(source).with_suffix("").parts): path for path in source.rglob("*.py")}
    files = {name.removesuffix(".__init__"): path for name, path in files.items()}
    graph = {}
    for name, path in files.items():
        used = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                used |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        graph[name] = (used & files.keys()) - {name}
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules each of which leads to all others of its group by imports."""
    reached = {}
    for start in graph:
        seen, waiting = set(), [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    groups = {tuple(sorted({a, *(b for b in reached[a] if a in reached[b])})) for a in graph if a in reached[a]}
    return sorted(map(list, groups))


def test_no_module_leads_back_to_itself(project: Path) -> None:
    assert not circles(import_graph(project / "src"))


def test_no_study_uses_another(project: Path) -> None:
    for name in STUDIES:
        others = re.compile(rf"qdrank\.studies\.(?:{'|'.join(other for other in STUDIES if other != name)})\b")
        for path in (project / "src" / "qdrank" / "studies" / name).rglob("*.py"):
            assert not others.search(path.read_text()), path


def test_methods_have_one_name_in_all_studies() -> None:
    names = [method.name for name in STUDIES for method in STUDIES[name].methods]
    assert len(set(names)) == len(names)


def test_jobs_do_not_depend_on_the_configuration(project: Path) -> None:
    """Else an edited default would rerun everything; what matters to a job comes as params."""
    rules = "".join(path.read_text() for path in (project / "workflow/rules").glob("*.smk"))
    steps = [step.call for name in STUDIES for step in STUDIES[name].steps]
    for call in (*re.findall(r'call="([^"]+)"', rules), *steps):
        if not call.startswith("qdrank.workflow"):  # the job that writes the configuration
            read = {f"qdrank.workflow.{name}" for name in ("config", "config_files", "plan")}
            assert not read & code_modules({"call": call}), call


LIGHT = ("plan", "recorded", "config_files", "provenance", "start", "files", "described")


def loaded(names: Iterable[str], watched: Iterable[str]) -> str:
    """Which of the watched libraries a process has after importing all of these modules."""
    code = f"import {', '.join(names)}, sys; print(*(m for m in {watched} if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_what_the_snakefile_imports_is_light() -> None:
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib", "pyarrow", "lightgbm"]
    names = [*(f"qdrank.workflow.{name}" for name in LIGHT), "qdrank.measures.names", "qdrank.studies"]
    assert loaded(names, heavy) == ""


def test_what_only_shows_results_loads_no_compiler() -> None:
    """It would take most of a second, and tables would be made again whenever a learner changes."""
    studies = [STUDIES[name] for name in STUDIES]
    outputs = [one for study in studies for one in (*study.figures, *study.tables, study.observations)]
    modules = {one.module for one in outputs if one.id != "hoi-table3"}  # which takes the times itself
    assert loaded(sorted(modules), ["numba", "lightgbm"]) == ""


#: Padded NumPy takes 5 times as long for `matrix_kernels`, 20 for `evidence_kernels`, and for CPS up to 4 (likelihood) and 13
#: (rankings) with lists of 120. `oracle_kernels` was not timed.
COMPILED = {"measures/matrix_kernels", "rankers/evidence_kernels", "studies/hybrid/oracle_kernels"}


def test_only_learners_and_named_loops_are_compiled(project: Path) -> None:
    source = project / "src" / "qdrank"
    compiled = {
        str(one.relative_to(source).with_suffix("")) for one in modules(project) if "\n@njit" in one.read_text()
    }
    assert {one for one in compiled if not one.startswith("learners/")} == COMPILED


def test_environment_files_are_in_step_with_the_lock(project: Path) -> None:
    code = "import runpy; print(runpy.run_path('envs/generate.py')['environment'](), end='')"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project).stdout
    assert (project / "envs" / "qdrank.yaml").read_text() == made


def test_the_lock_is_hashed_and_names_no_address(project: Path) -> None:
    for name in ("run", "dev", "docs"):
        text = (project / "requirements" / f"{name}.txt").read_text()
        entries = re.findall(r"^[a-z0-9][^\n]*==(?:[^\n]*\\\n)+[^\n]*", text, re.MULTILINE)
        assert len(entries) > 20
        assert all("--hash=sha256:" in entry for entry in entries)
        assert "://" not in text


def test_measures_never_forget_documents_that_were_not_retrieved(project: Path) -> None:
    """Measures of a data set's documents count the relevant ones that are not among the candidates."""
    rooms = [project / "src" / "qdrank" / room for room in ("studies", "evaluation", "text")]
    for path in [path for room in rooms for path in room.rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "measure":
                assert "unranked" in {keyword.arg for keyword in node.keywords}, f"{path.name}, line {node.lineno}"


def unnamed_shapes(text: str) -> list[str]:
    """Calls of the store's ``read`` and ``write`` that do not say the shape where they stand: its name, a study's own, a parameter."""
    tree = ast.parse(text)
    stored = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "qdrank.store"]
    names = {alias.name for node in stored for alias in node.names} & {"read", "write", "open_artifact", "writing"}
    wrong = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            match node.args[1]:
                case ast.Constant(str()):
                    continue
                case ast.Name(name) if name.endswith("_SHAPE") or name in ("shape", "kind"):
                    continue
            wrong.append(ast.unparse(node))
    return wrong


def test_shapes_are_named_where_they_are_used(project: Path) -> None:
    """A job's digest knows the shared shapes by the strings in its code."""
    for path in modules(project):
        assert not unnamed_shapes(path.read_text()), path


#: Rooms whose choices are made on validation, by `qdrank.learners.choose` alone.
CHOOSING = ("learners", "rankers", "studies")
LARGEST = {f"{start}arg{end}" for start in ("", "nan") for end in ("max", "min")} | {"idxmax", "nlargest", "nsmallest"}


def chooses_alone(text: str) -> bool:
    """Whether a module measures rankings and takes the largest of something, and not by `qdrank.learners.choose`."""
    nodes = list(ast.walk(ast.parse(text)))
    used = {f"{node.module}.{a.name}" for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
    measures = any(re.match(r"qdrank\.measures\.(?!names|ranking|definitions|CONV)", name) for name in used)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    keyed = {c.func.id for c in calls if isinstance(c.func, ast.Name) and any(k.arg == "key" for k in c.keywords)}
    largest = {c.func.attr for c in calls if isinstance(c.func, ast.Attribute)} & LARGEST or keyed & {"max", "sorted"}
    return bool(measures and largest and not any(name.startswith("qdrank.learners.choose.") for name in used))


def test_nobody_else_chooses(project: Path) -> None:
    rooms = [project / "src" / "qdrank" / room for room in CHOOSING]
    assert not [path for room in rooms for path in room.rglob("*.py") if chooses_alone(path.read_text())]


def test_no_pickle_and_no_eval(project: Path) -> None:
    for path in [*modules(project), *(project / "scripts").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "cloudpickle", "joblib", "marshal", "shelve"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path


def test_ready_configurations_and_the_table_of_data_sets_are_valid(project: Path) -> None:
    """A key that is renamed in the library is renamed in every file that names it."""
    files = [*(project / "config").glob("*.yaml"), *(project / "tests" / "configs").glob("*.yaml")]
    files = [file for file in files if file.name not in ("datasets.yaml", "encoders.yaml")]
    usual = {"config.yaml", "letor.yaml", "text.yaml", "paper.yaml", "claims.yaml", "tiny.yaml", "mirror.yaml"}
    assert usual <= {file.name for file in files}
    for file in files:
        resolve(load_yaml(file), [(file.name, load_yaml(file))])
    assert {"mq2008", "nfcorpus", "sim1"} <= set(load(project / "config" / "datasets.yaml"))
