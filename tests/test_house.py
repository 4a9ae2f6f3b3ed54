"""Rules of the house that a reader cannot be asked to remember."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from qdrank.datasets.registry import load
from qdrank.errors import InputError
from qdrank.measures import CONVENTIONS
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import load_yaml, resolve
from qdrank.workflow.provenance import code_modules

# From the base up: a room may use those before it.
ROOMS = [
    ("errors", "layout", "registry", "jobs", "ahead", "kernel_locator", "project", "single_precision"),
    ("store",),
    ("run_results",),
    ("measures",),
    ("sections",),
    ("datasets",),
    ("text",),
    ("queries",),
    ("learners",),
    ("aggregators",),
    ("rankers",),
    ("evaluation",),
    ("figures",),
    ("studies",),
    ("workflow",),
    ("pages",),
    ("serving",),
    ("commands", "kernel_cache", "cli"),
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


def test_a_circle_is_found(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").write_text("")
    (tmp_path / "room" / "a.py").write_text("from room.b import f\n")
    (tmp_path / "room" / "b.py").write_text("import room.c\n")
    (tmp_path / "room" / "c.py").write_text("import os\n")
    assert circles(import_graph(tmp_path)) == []
    for late in ("def g():\n    from room import a\n", "if TYPE_CHECKING:\n    from room.a import f\n"):
        (tmp_path / "room" / "c.py").write_text(late)
        assert circles(import_graph(tmp_path)) == [["room.a", "room.b", "room.c"]]


def test_no_study_uses_another(project: Path) -> None:
    for name in STUDIES:
        others = re.compile(rf"qdrank\.studies\.(?:{'|'.join(other for other in STUDIES if other != name)})\b")
        for path in (project / "src" / "qdrank" / "studies" / name).rglob("*.py"):
            assert not others.search(path.read_text()), path


def rule_files(project: Path) -> list[Path]:
    return sorted((project / "workflow" / "rules").glob("*.smk"))


_RULE = re.compile(
    r'^(?:(?:for .+ in|\w+ =) run\.(?:divided|by_size|by_folds)\("(\w+)"[\s\S]*?\n)? *rule ?(\w*):$', re.MULTILINE
)
_SCRIPT_OF = re.compile(r"scripts/([\w/]+)\.py")


def scripts_by_rule(text: str) -> set[tuple[str, str]]:
    """Each rule with its script; rules that share divided work go by the name that the function that divides it is given."""
    _, *parts = _RULE.split(text)
    rules = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {(divided or name, script) for divided, name, body in rules for script in _SCRIPT_OF.findall(body)}


def test_rules_and_scripts_have_the_same_names(project: Path) -> None:
    """A script is that of the rule of its name, unless the rules that every study gets use it."""
    scripts = project / "scripts"
    texts = {path.stem: path.read_text() for path in rule_files(project)}
    used = {name for text in texts.values() for name in _SCRIPT_OF.findall(text)}
    assert used == {str(path.relative_to(scripts).with_suffix("")) for path in scripts.rglob("*.py")}
    rules = set().union(*(scripts_by_rule(text) for text in texts.values()))
    for name in used - set(_SCRIPT_OF.findall(texts["studies"])):
        assert (name.rpartition("/")[2], name) in rules, name


def test_a_rule_with_the_script_of_another_is_seen() -> None:
    one = 'rule one:\n    script:\n        "../scripts/{}.py"\n'
    divided = 'for _name in run.divided("two", KINDS).items():\n\n    rule:\n        script:\n            "../scripts/{}.py"\n'
    assert scripts_by_rule(one.format("one") + divided.format("a/two")) == {("one", "one"), ("two", "a/two")}
    assert scripts_by_rule(one.format("two") + divided.format("one")) == {("one", "two"), ("two", "one")}


def script_faults(text: str) -> list[str]:
    """What is wrong with a script: it has a docstring, imports one function and `job`, and calls the function once, or once a fold."""
    body = ast.parse(text.replace("    for one in this.folds:\n        ", "    ")).body
    match body:
        case [
            ast.Expr(ast.Constant(str())),
            ast.ImportFrom(module=str() as module, names=[ast.alias(name=function, asname=None)]),
            ast.ImportFrom(module="qdrank.workflow.script", names=[ast.alias(name="job", asname=None)]),
            ast.With(
                items=[ast.withitem(ast.Call(ast.Name("job"), [], []), ast.Name("this"))],
                body=[ast.Expr(ast.Call(ast.Name(called)) as call)],
            ),
        ]:
            faults = [] if called == function else [f"calls {called}, imports {function}"]
            faults += [] if module.startswith("qdrank.") else [f"{module} is not of the library"]
            inner = [node for part in [*call.args, *call.keywords] for node in ast.walk(part)]
            more = [ast.unparse(node) for node in inner if isinstance(node, ast.Call)]
            return faults + [f"calls {one} too" for one in more if not one.startswith("this.config.get(")]
    return ["is not: docstring, one function, job, with job() as this: function(...)"]


def test_a_script_calls_one_function_of_the_library(project: Path) -> None:
    for script in (project / "scripts").rglob("*.py"):
        assert not script_faults(script.read_text()), f"{script.name} {script_faults(script.read_text())}"


_SCRIPT = '''"""Words."""

from qdrank.store.manifest import write_manifest
from qdrank.workflow.script import job

with job() as this:
    write_manifest(this.path, **this.params)
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    write_manifest(this.path,", "    print(1)\n    write_manifest(this.path,"),
        ("(this.path,", "(str(this.path),"),
        ("    write_manifest(", "    made = write_manifest("),
        ("from qdrank.workflow", "from qdrank.store import read\nfrom qdrank.workflow"),
        ("    write_manifest(", "    this.log("),
        ("qdrank.store.manifest", "shutil"),
        ("with job() as this:\n    ", "this = job()\n"),
    ],
)
def test_a_script_that_does_more_is_found(old: str, new: str) -> None:
    assert not script_faults(_SCRIPT)
    assert not script_faults(
        _SCRIPT.replace("    write", "    for one in this.folds:\n        write").replace("(this", "(one")
    )
    assert script_faults(_SCRIPT.replace(old, new, 1))


def test_every_rule_says_what_it_needs(project: Path) -> None:
    for file in rule_files(project):
        for rule in re.split(r"^ *(?:rule|checkpoint)\b", file.read_text(), flags=re.MULTILINE)[1:]:
            if "script:" not in rule:
                continue
            parts = ["resources:", "mem_mb", "runtime", "name:" if rule.startswith(":") else '"""']
            lacking = [part for part in parts if part not in rule]
            assert not lacking, f"{file.name}: rule {rule.split(':')[0]} lacks {lacking}"


def test_no_rule_says_what_all_rules_get(project: Path) -> None:
    """`qdrank.workflow.complete` gives each rule its log, its benchmark, the environment and the digest of its code."""
    for file in rule_files(project):
        said = re.findall(r"^ +(?:log|benchmark|conda):|\bcode=", file.read_text(), re.MULTILINE)
        assert not said, f"{file.name}: {said}"


def test_no_rule_repeats_a_default(project: Path) -> None:
    for file in rule_files(project):
        assert "threads: 1\n" not in file.read_text(), file.name


# Names of conventions of measures, which are also short names of studies: in measures, and as ``ndcg@10/geng`` anywhere.
CONVENTION = re.compile(rf"\w+(?:@\w+)?/(?:{'|'.join(CONVENTIONS)})\b")
# Names that NumPy gave.
FOREIGN = {"LinAlgError"}
# From Python 3.12 on the text of an f-string is a token of its own.
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
STATEMENT = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def mentions(text: str, names: set[str]) -> list[str]:
    """Identifiers and strings of a program with one of ``names`` as a word; comments and docstrings may cite a paper.

    In a sentence, a string with blanks, a name counts where a sign joins it to another word or backquotes enclose it.
    """
    found, before = [], tokenize.NEWLINE
    names_ = "|".join(names)
    word = re.compile(rf"(?<![A-Za-z])(?:{names_})(?![A-Za-z])")
    joined = re.compile(rf"(?<![A-Za-z])(?:{names_})[-_/.:`]\w|[-_/.`](?:{names_})(?![A-Za-z])")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string not in FOREIGN:
            words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*", token.string)
            found += [token.string] if names & {part.lower() for part in words} else []
        elif token.type in STRINGS and not (before in STATEMENT and token.string.startswith('"""')):
            string = CONVENTION.sub("", token.string)
            found += [token.string] if (joined if " " in string else word).search(string) else []
        before = before if token.type in {tokenize.NL, tokenize.COMMENT} else token.type
    return found


def test_what_is_not_about_one_paper_knows_of_none(project: Path) -> None:
    """Only a study's own folders, rule file and registry line name it, be it by its full or by its short name."""
    source = project / "src" / "qdrank"
    names = {name for study in STUDIES for name in (study, STUDIES[study].short)}
    generic = [path for path in modules(project) if path.relative_to(source).parts[0] != "studies"]
    generic += [*(project / "scripts").glob("*.py"), *(p for p in rule_files(project) if p.stem not in STUDIES)]
    for path in generic:
        in_measures = path.is_relative_to(source / "measures")
        named = mentions(path.read_text(), names - set(CONVENTIONS) if in_measures else names)
        assert not named, f"{path.relative_to(project)} names a study: {named}"
        assert not names & set(path.relative_to(project).with_suffix("").parts), path


@pytest.mark.parametrize(
    "line",
    [
        'out = "results/{dataset}/geng/measures.parquet"',
        'target = "geng_fig7"',
        'f"{folder}/lin/{name}"',
        'raise ValueError("see geng.lam in the configuration")',
        "from qdrank.studies.zha2006 import STUDY",
        "geng_models = 1",
        "class HoiWeights: ...",
        "settings.beyond",
        'convention = "geng"',
        'rule lin:\n    output: "x"',
        'rule x:\n    output:\n        "results/lin/x"',
    ],
)
def test_a_study_that_is_named_is_found(line: str) -> None:
    names = {name for study in STUDIES for name in (study, STUDIES[study].short)}
    assert mentions(f'"""Words."""\n\n{line}\n', names)


def test_a_citation_a_convention_and_a_usual_word_name_no_study() -> None:
    text = '"""Eq. 3 of geng2008."""\n# as in zha\nx = "ndcg@10/geng"\ny = "nothing beyond the last row"\nlinear = 1\n'
    assert mentions(text, {"geng", "geng2008", "zha", "lin", "beyond"}) == []


def test_every_study_has_its_page_and_its_tests(project: Path) -> None:
    for name in STUDIES:
        page = (project / "docs" / "studies" / f"{name}.md").read_text()
        assert f"(../verdicts/{name}.md)" in page, f"docs/studies/{name}.md does not lead to its verdicts"
        assert list((project / "tests" / "studies" / name).glob("test_*.py")), name
        assert (project / "workflow" / "rules" / f"{name}.smk").is_file(), name


def test_methods_have_one_name_in_all_studies() -> None:
    names = [method.name for name in STUDIES for method in STUDIES[name].methods]
    assert len(set(names)) == len(names)


def test_scripts_do_not_depend_on_the_configuration(project: Path) -> None:
    """Else an edited default would rerun everything; what matters to a job comes as params."""
    for script in (project / "scripts").rglob("*.py"):
        assert not {
            "qdrank.workflow.config",
            "qdrank.workflow.config_files",
            "qdrank.workflow.plan",
        } & code_modules(script), script.name


@pytest.mark.parametrize(
    "module",
    [
        "qdrank.workflow.plan",
        "qdrank.workflow.recorded",
        "qdrank.workflow.config_files",
        "qdrank.workflow.provenance",
        "qdrank.workflow.start",
        "qdrank.workflow.files",
        "qdrank.workflow.page",
        "qdrank.measures.names",
        "qdrank.studies",
    ],
)
def test_what_the_snakefile_imports_is_light(module: str) -> None:
    heavy = ["numpy", "pandas", "scipy", "sklearn", "numba", "matplotlib", "pyarrow", "lightgbm"]
    code = f"import {module}, sys; print(*(m for m in {heavy} if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.parametrize("name", STUDIES)
def test_what_only_shows_results_loads_no_compiler(name: str) -> None:
    """It would take most of a second, and tables would be made again whenever a learner changes."""
    study = STUDIES[name]
    outputs = (*study.figures, *study.tables, study.observations)
    modules = {output.module for output in outputs if output.id != "hoi-table3"}  # which takes the times itself
    code = f"import {', '.join(modules)}, sys; print(*(m for m in ('numba', 'lightgbm') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


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


def glossary(project: Path) -> dict[str, tuple[list[str], bool]]:
    """For every word of the glossary the rooms or modules of its last column, and whether names may stand there only."""
    rows = re.findall(r"^\| (\w+) \| .* \| (.*?) \|$", (project / "docs" / "glossary.md").read_text(), re.MULTILINE)
    return {word: (re.findall(r"`(.*?)`", where), not where.startswith("anywhere")) for word, where in rows[1:]}


def given_names(text: str) -> dict[str, str]:
    """Names that a program gives to something, in small letters with underscores; row groups are Parquet's."""
    names = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                names.append(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.append(name)
    words = {name: re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names}
    return {name: re.sub(r"row_groups?", "", word) for name, word in words.items()}


def astray(names: dict[str, str], word: str) -> list[str]:
    """Those of ``names`` with ``word`` in them, in the singular or plural."""
    stem = re.compile(rf"(?<![a-z]){word.rstrip('s')}s?(?![a-z])")
    return [name for name, words in names.items() if stem.search(words)]


def test_a_word_of_the_glossary_stands_where_the_glossary_says(project: Path) -> None:
    source, words = project / "src" / "qdrank", glossary(project)
    assert {"evidence", "judged", "part", "terms", "family", "group", "bank", "plain"} <= words.keys()
    wrong = []
    for path in modules(project):
        at, names = path.relative_to(source).with_suffix("").as_posix(), given_names(path.read_text())
        for word, (places, only) in words.items():
            inside = any(at == place or at.startswith(f"{place}/") for place in places)
            wrong += [f"{at}: {name}" for name in astray(names, word)] if inside != only else []
    assert not wrong, f"docs/glossary.md gives these words another meaning: {wrong}"


def test_a_word_astray_is_found() -> None:
    program = (
        "class PlainThing:\n    def part_of(self, terms, *, own_group=1): self.family = terms.group_by(1)\nn_parts = 1"
    )
    found = {word: astray(given_names(program), word) for word in ("plain", "part", "terms", "group", "family", "bank")}
    assert found == {
        "plain": ["PlainThing"],
        "part": ["part_of", "n_parts"],
        "terms": ["terms"],
        "group": ["own_group"],
        "family": ["family"],
        "bank": [],
    }
    assert astray(given_names("partial = apart = department = 1"), "part") == []


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
    assert unnamed_shapes(
        "from qdrank.store import write\nfor name, table in made:\n    write(out[name], name, table)\n"
    )


def writes_code(text: str) -> bool:
    """Whether a module imports what code for LLVM is written with: llvmlite, or what numba builds its functions from."""
    for node in ast.walk(ast.parse(text)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{name}" for name in names]
        if any(
            name.split(".")[0] == "llvmlite" or (name.startswith("numba.") and "intrinsic" in name) for name in names
        ):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "intrinsic":
            return True
    return False


def test_no_module_writes_code_for_llvm(project: Path) -> None:
    """Kernels are loops that a reader of Python can follow (docs/decisions.md)."""
    assert not [path for path in modules(project) if writes_code(path.read_text())]
    for planted in (
        "from llvmlite import ir",
        "def build():\n    import llvmlite.ir as ir",
        "from numba.extending import intrinsic as made",
        "import numba\n@numba.extending.intrinsic\ndef f(_): ...",
    ):
        assert writes_code(planted), planted
    assert not writes_code("from numba import njit")


def test_no_pickle_and_no_eval(project: Path) -> None:
    for path in [*modules(project), *(project / "scripts").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {a.name for a in node.names} | {getattr(node, "module", None)}
                assert not names & {"pickle", "cloudpickle", "joblib", "marshal", "shelve"}, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec"}, path


#: Longest line of prose in the documentation; tables, code, headings and addresses may be longer.
DOC_WIDTH = 120


def test_the_work_of_a_job_writes_nothing_to_the_terminal(project: Path) -> None:
    """A line of a job would be drawn over by the panel that shows the progress, and leave a piece of it behind."""
    source = project / "src" / "qdrank"
    may = {"cli.py", "jobs.py", "kernel_cache.py", "datasets/fetching/progress.py", "workflow/start.py"}
    printing = {
        str(path.relative_to(source))
        for path in modules(project)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert {name for name in printing if not name.startswith("commands/")} == may


def long_lines(text: str) -> list[int]:
    """Numbers of the lines of prose that are longer than `DOC_WIDTH`, counted from 1."""
    long, fenced = [], False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        prose = not (fenced or line.startswith(("|", "    ", "#", "<", "[", "!")))
        if prose and len(line) > DOC_WIDTH and " " in line.strip()[:DOC_WIDTH]:
            long.append(number)
    return long


def test_lines_of_documentation_are_wrapped_alike(project: Path) -> None:
    """What is written by a command is not wrapped by hand."""
    made = {project / "docs" / name for name in ("ledger.md", "configuration.md", "afternoon.md")}
    made |= set((project / "docs" / "verdicts").iterdir())
    pages = {*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "config").glob("*.md")} - made
    wrong = {str(page.relative_to(project)): long_lines(page.read_text()) for page in sorted(pages)}
    assert not {page: lines for page, lines in wrong.items() if lines}, f"wrap at {DOC_WIDTH} columns"


def test_a_long_line_of_prose_is_found() -> None:
    long = "word " * 30
    page = f"# {long}\n\n{long}\n| {long} |\n\n```\n{long}\n```\n\n    {long}\n- {long}\n" + "x" * 200
    assert long_lines(page) == [3, 11]


def test_ready_configurations_and_the_table_of_data_sets_are_valid(project: Path) -> None:
    """A key that is renamed in the library is renamed in every file that names it."""
    files = [*(project / "config").glob("*.yaml"), *(project / "tests" / "configs").glob("*.yaml")]
    files = [file for file in files if file.name != "datasets.yaml"]
    usual = {"config.yaml", "letor.yaml", "text.yaml", "paper.yaml", "claims.yaml", "tiny.yaml", "mirror.yaml"}
    assert usual <= {file.name for file in files}
    for file in files:
        resolve(load_yaml(file), [(file.name, load_yaml(file))])
    assert {"mq2008", "nfcorpus", "sim1"} <= set(load(project / "config" / "datasets.yaml"))


def test_a_renamed_key_is_found(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("text: {candidates_kept: 10}\n")
    values = load_yaml(tmp_path / "config.yaml")
    with pytest.raises(InputError, match=r"text\.candidates_kept: unknown key"):
        resolve(values, [("config.yaml", values)])
