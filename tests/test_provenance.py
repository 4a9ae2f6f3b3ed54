import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qdrank.errors import InputError
from qdrank.registry import Registry, loaded, restricted
from qdrank.workflow import provenance
from qdrank.workflow.provenance import code_digest, code_modules

CACHED = (provenance._parsed, provenance._file, provenance._imported, provenance._modules)
LEARN = {"call": "qdrank.rankers.learning:learn_method", "learner": "ranksvm"}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "qdrank"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text('"""Words."""\ndef f(x):\n    return x + 1\n')
    (package / "high.py").write_text("def g(x):\n    from qdrank.low import f\n    return f(x)\n")
    (package / "other.py").write_text("y = 2\n")
    monkeypatch.setattr(provenance, "SOURCE", tmp_path)
    return package


@pytest.fixture
def source(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the library, to be edited."""
    shutil.copytree(project / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    return tmp_path / "src" / "qdrank"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No file of an earlier process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(provenance.atexit, "register", lambda _: None)
    provenance._kept.cache_clear()
    yield provenance._kept().path
    for cached in (provenance._kept, *CACHED):
        cached.cache_clear()


def digest(call: str = "qdrank.high:g", **params: Any) -> str:
    """Anew, as another process would find it."""
    for cached in CACHED:
        cached.cache_clear()
    return code_digest({"call": call, **params})


def modules(call: str = "qdrank.high:g", **params: Any) -> frozenset[str]:
    digest()
    return code_modules({"call": call, **params})


def test_imports_are_followed(library: Path) -> None:
    assert modules() == {"qdrank.high", "qdrank.low"}


def test_a_change_anywhere_below_counts(library: Path) -> None:
    before = digest()
    (library / "low.py").write_text("def f(x):\n    return x + 2\n")
    assert digest() != before


def test_what_only_a_type_checker_imports_does_not_count(library: Path) -> None:
    text = "if TYPE_CHECKING:\n    from qdrank.other import y\nelse:\n    from qdrank.low import f\n"
    (library / "high.py").write_text(text)
    assert modules() == {"qdrank.high", "qdrank.low"}


def test_words_and_layout_do_not_count(library: Path) -> None:
    before = digest()
    (library / "low.py").write_text('"""Other words."""\n# a comment\n\ndef f( x ):\n    """More."""\n    return x+1\n')
    assert digest() == before


def test_an_unrelated_change_does_not_count(library: Path) -> None:
    before = digest()
    (library / "other.py").write_text("y = 3\n")
    assert digest() == before


@pytest.mark.parametrize("named", ["qdrank.other:y", "qdrank.other"])
def test_a_module_that_code_names_in_a_string_counts(library: Path, named: str) -> None:
    (library / "high.py").write_text(f'def g(x):\n    return loaded("{named}")\n')
    assert modules() == {"qdrank.high", "qdrank.other"}


def test_a_target_in_the_params_counts(library: Path) -> None:
    before = digest(options={"deep": ["qdrank.other:y"]})
    assert before != digest()
    (library / "other.py").write_text("y = 3\n")
    assert digest(options={"deep": ["qdrank.other:y"]}) != before


# ---- registries ----


def test_of_learners_those_count_that_the_params_name(source: Path) -> None:
    before = digest(**LEARN)
    trees, own = source / "learners/trees.py", source / "learners/ranksvm/estimator.py"
    trees.write_text(trees.read_text() + "\nEDITED = True\n")
    assert digest(**LEARN) == before
    assert "qdrank.learners.trees" in modules(**LEARN, looked_up=["lambdamart"])
    own.write_text(own.read_text() + "\nEDITED = True\n")
    assert digest(**LEARN) != before


def test_a_new_learner_reruns_nothing(source: Path) -> None:
    home = source / "learners/__init__.py"
    before = digest(**LEARN)
    text, entry = home.read_text(), '        "rankboost": "'
    assert entry in text
    home.write_text(text.replace(entry, f'        "mine": "qdrank.learners.mine:Mine",\n{entry}', 1))
    assert digest(**LEARN) == before


def test_all_measures_count_wherever_one_is_measured(source: Path) -> None:
    before, path = digest(**LEARN), source / "measures/definitions.py"
    path.write_text(path.read_text() + "\nEDITED = True\n")
    assert digest(**LEARN) != before


def test_names_that_a_package_imports_late_are_followed_one_by_one(source: Path) -> None:
    (source / "late.py").write_text("from qdrank.learners import ListNet\n")
    found = modules("qdrank.late:ListNet")
    assert "qdrank.learners.linear" in found
    assert "qdrank.learners.trees" not in found


def test_code_that_the_digest_does_not_know_of_is_not_found() -> None:
    """Whatever the digest missed, such as a name read from a file, stops the job instead of a stale result."""
    things = Registry("thing", {"one": "math:pi", "two": "cmath:e"})
    with restricted(lambda: {"math"}):
        assert things["one"] > 3
        with pytest.raises(InputError, match="digest does not know"):
            things["two"]
    assert loaded("cmath:e") > 2


# ---- kept between processes ----


def test_files_are_parsed_once_for_all_processes(library: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, found = digest(), modules()
    provenance._kept().save()
    assert kept.is_file()
    provenance._kept.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(provenance, "_parse", None)  # nothing is parsed again
        assert digest() == before
        assert modules() == found
    (library / "low.py").unlink()  # what a name stands for is looked up anew
    assert modules() == {"qdrank.high"}


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"a": 1}'])
def test_a_broken_file_of_digests_is_done_without(library: Path, kept: Path, text: str) -> None:
    before = digest()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    provenance._kept.cache_clear()
    assert digest() == before
