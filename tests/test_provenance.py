from __future__ import annotations

from pathlib import Path

import pytest

from qdrank.workflow import provenance
from qdrank.workflow.provenance import code_digest, imported_modules


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "qdrank"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "low.py").write_text('"""Words."""\ndef f(x):\n    return x + 1\n')
    (package / "high.py").write_text("def g(x):\n    from qdrank.low import f\n    return f(x)\n")
    (package / "other.py").write_text("y = 2\n")
    (package / "lazy.py").write_text('NAMES = {"y": "qdrank.other"}\nREGISTERED = {"y": "qdrank.low:f"}\n')
    monkeypatch.setattr(provenance, "SOURCE", tmp_path)
    return package


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No file of an earlier process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(provenance.atexit, "register", lambda _: None)
    provenance._kept.cache_clear()
    yield provenance._kept().path
    provenance._kept.cache_clear()


def digest(script: Path, *modules: str) -> str:
    provenance._parsed.cache_clear()
    provenance._exists.cache_clear()
    return code_digest(script, modules)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "job.py"
    path.write_text("from qdrank.high import g\ng(1)\n")
    return path


def test_imports_are_followed(library: Path, script: Path) -> None:
    digest(script)
    assert imported_modules(script) == {"qdrank.high", "qdrank.low"}


def test_a_change_anywhere_below_counts(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "low.py").write_text("def f(x):\n    return x + 2\n")
    assert digest(script) != before


def test_what_only_a_type_checker_imports_does_not_count(library: Path, script: Path) -> None:
    text = "if TYPE_CHECKING:\n    from qdrank.other import y\nelse:\n    from qdrank.low import f\n"
    (library / "high.py").write_text(text)
    digest(script)
    assert imported_modules(script) == {"qdrank.high", "qdrank.low"}


def test_words_and_layout_do_not_count(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "low.py").write_text('"""Other words."""\n# a comment\n\ndef f( x ):\n    """More."""\n    return x+1\n')
    script.touch()
    assert digest(script) == before


def test_an_unrelated_change_does_not_count(library: Path, script: Path) -> None:
    before = digest(script)
    (library / "other.py").write_text("y = 3\n")
    assert digest(script) == before


def test_modules_found_by_name_are_told(library: Path, script: Path) -> None:
    before = digest(script, "qdrank.other")
    assert before != digest(script)
    (library / "other.py").write_text("y = 3\n")
    assert digest(script, "qdrank.other") != before


def test_lazy_packages_are_followed_and_registries_are_not(library: Path, script: Path) -> None:
    script.write_text("from qdrank import lazy\n")
    digest(script)
    assert imported_modules(script) == {"qdrank", "qdrank.lazy", "qdrank.other"}


def test_files_are_parsed_once_for_all_processes(
    library: Path, script: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, imports = digest(script), imported_modules(script)
    provenance._kept().save()
    assert kept.is_file()
    provenance._kept.cache_clear()
    monkeypatch.setattr(provenance, "_digest_and_names", None)  # nothing is parsed again
    assert digest(script) == before
    assert imported_modules(script) == imports
    (library / "low.py").unlink()  # what a name stands for is looked up anew
    digest(script)
    assert imported_modules(script) == {"qdrank.high"}


@pytest.mark.parametrize("text", ["", "not json", "[1]", '{"a": 1}'])
def test_a_broken_file_of_digests_is_done_without(library: Path, script: Path, kept: Path, text: str) -> None:
    before = digest(script)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text)
    provenance._kept.cache_clear()
    assert digest(script) == before
