from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qdrank.errors import InputError
from qdrank.registry import Registry, loaded, restricted
from qdrank.workflow import parsed, provenance
from qdrank.workflow.provenance import code_digest, code_modules

CACHED = (parsed.parsed_file, provenance._exists, provenance._file, provenance._imported, provenance._code)
REGISTRY = """from qdrank.registry import Registry
THINGS = Registry("thing", {
    "first": "qdrank.first:f",
    "second@k/x": "qdrank.second:f",
})
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "qdrank"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "registry.py").write_text("class Registry: ...\n")
    (package / "low.py").write_text('"""Words."""\ndef f(x):\n    return x + 1\n')
    (package / "high.py").write_text("def g(x):\n    from qdrank.low import f\n    return f(x)\n")
    (package / "other.py").write_text("y = 2\n")
    (package / "first.py").write_text("def f(): ...\n")
    (package / "second.py").write_text("def f(): ...\n")
    (package / "things.py").write_text(REGISTRY)
    monkeypatch.setattr(provenance, "SOURCE", tmp_path)
    return package


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No file of an earlier process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(parsed.atexit, "register", lambda _: None)
    parsed._kept.cache_clear()
    yield parsed._kept().path
    for cached in (parsed._kept, *CACHED):
        cached.cache_clear()


def digest(script: Path, **params: Any) -> str:
    """Anew, as another process would find it."""
    for cached in CACHED:
        cached.cache_clear()
    return code_digest(script, params)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "job.py"
    path.write_text("from qdrank.high import g\ng(1)\n")
    return path


def test_imports_are_followed(library: Path, script: Path) -> None:
    digest(script)
    assert code_modules(script) == {"qdrank.high", "qdrank.low"}


def test_a_change_anywhere_below_counts(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "low.py").write_text("def f(x):\n    return x + 2\n")
    assert digest(script) != before


def test_what_only_a_type_checker_imports_does_not_count(library: Path, script: Path) -> None:
    text = "if TYPE_CHECKING:\n    from qdrank.other import y\nelse:\n    from qdrank.low import f\n"
    (library / "high.py").write_text(text)
    digest(script)
    assert code_modules(script) == {"qdrank.high", "qdrank.low"}


def test_words_and_layout_do_not_count(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "low.py").write_text('"""Other words."""\n# a comment\n\ndef f( x ):\n    """More."""\n    return x+1\n')
    script.touch()
    assert digest(script) == before


def test_an_unrelated_change_does_not_count(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "other.py").write_text("y = 3\n")
    assert digest(script) == before


# ---- what is found by name ----


def test_a_target_in_the_params_counts(library: Path, script: Path) -> None:
    before = digest(script, make="qdrank.other:y")
    assert before != digest(script)
    (library / "other.py").write_text("y = 3\n")
    assert digest(script, make="qdrank.other:y") != before


@pytest.mark.parametrize(
    ("text", "params"),
    [
        ("THINGS[name]", {"options": {"deep": ["first"]}}),  # from the params, however deep
        ('THINGS["first"]', {}),  # in the script
        ("import qdrank.names", {}),  # in code that the script imports
        ("import qdrank.patterns", {}),  # with holes
    ],
)
def test_nobody_has_to_name_what_a_registry_gives(
    library: Path, script: Path, text: str, params: dict[str, Any]
) -> None:
    (library / "names.py").write_text('NAMES = ["first"]\n')
    (library / "patterns.py").write_text('def g(x):\n    return f"fir{x}"\n')
    script.write_text(f"from qdrank.things import THINGS\n{text}\n")
    before = digest(script, **params)
    (library / "second.py").write_text("def f(): return 1\n")
    assert digest(script, **params) == before, "the job does not use it"
    (library / "first.py").write_text("def f(): return 1\n")
    assert digest(script, **params) != before


def test_a_name_may_carry_a_number(library: Path, script: Path) -> None:
    script.write_text("from qdrank.things import THINGS\n")
    before = digest(script, measure="second@10/x")
    assert "qdrank.second" in code_modules(script, {"measure": "second@10/x"})
    (library / "second.py").write_text("def f(): return 1\n")
    assert digest(script, measure="second@10/x") != before


def test_a_new_entry_counts_only_where_it_is_used(library: Path, script: Path) -> None:
    script.write_text("from qdrank.things import THINGS\n")
    before = [digest(script, name=name) for name in ("first", "third")]
    new = '    "third": "qdrank.other:y",\n'
    (library / "things.py").write_text(REGISTRY.replace("})", f"{new}}})"))
    after = [digest(script, name=name) for name in ("first", "third")]
    assert before[0] == after[0]
    assert before[1] != after[1]
    (library / "things.py").write_text(REGISTRY.replace("qdrank.first:f", "qdrank.first:g"))
    assert digest(script, name="first") != before[0], "another object of the same module"


def test_names_that_a_package_imports_late_are_followed_one_by_one(library: Path, script: Path) -> None:
    (library / "lazy.py").write_text('_PUBLIC = {"y": "qdrank.other", "f": "qdrank.low:f"}\n')
    script.write_text("from qdrank.lazy import y\n")
    digest(script)
    assert code_modules(script) == {"qdrank.lazy", "qdrank.other"}


def test_code_that_the_digest_does_not_know_of_is_not_found() -> None:
    """Whatever the digest missed, such as a name read from a file, stops the job instead of a stale result."""
    things = Registry("thing", {"one": "math:pi", "two": "cmath:e"})
    with restricted(lambda: {"math"}):
        assert things["one"] > 3
        with pytest.raises(InputError, match="digest does not know"):
            things["two"]
    assert loaded("cmath:e") > 2


# ---- kept between processes ----


def test_files_are_parsed_once_for_all_processes(
    library: Path, script: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, imports = digest(script), code_modules(script)
    parsed._kept().save()
    assert kept.is_file()
    parsed._kept.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(parsed, "_parse", None)  # nothing is parsed again
        assert digest(script) == before
        assert code_modules(script) == imports
    (library / "low.py").unlink()  # what a name stands for is looked up anew
    digest(script)
    assert code_modules(script) == {"qdrank.high"}


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"a": 1}'])
def test_a_broken_file_of_digests_is_done_without(library: Path, script: Path, kept: Path, text: str) -> None:
    before = digest(script)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    parsed._kept.cache_clear()
    assert digest(script) == before
