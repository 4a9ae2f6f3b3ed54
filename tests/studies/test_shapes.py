"""A study's shapes stand in its folder, and a new one concerns only that study."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest

from qdrank.store.schemas import SHAPES, Shape
from qdrank.studies import STUDIES
from qdrank.workflow import parsed, provenance


def forget() -> None:
    """What is known of files: they are edited here while the process runs."""
    for kept in (parsed.parsed_file, provenance._code, provenance._imported, provenance._exists, provenance._file):
        kept.cache_clear()


def study_shapes(project: Path) -> list[Shape]:
    files = sorted((project / "src" / "qdrank" / "studies").glob("*/shapes.py"))
    modules = [import_module(f"qdrank.studies.{path.parent.name}.shapes") for path in files]
    return [value for module in modules for value in vars(module).values() if isinstance(value, Shape)]


def test_a_kind_of_artifact_has_one_shape(project: Path) -> None:
    shapes = [*SHAPES.values(), *study_shapes(project)]
    assert len({shape.name for shape in shapes}) == len(shapes) > len(SHAPES)
    for shape in shapes:
        assert shape.nullable <= set(shape.columns), shape.name


def test_a_new_shape_of_a_study_reruns_only_that_study(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the digests that rules carry, of all scripts: among those of the study only the ones that import its shapes."""
    shutil.copytree(project / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    scripts = sorted((project / "scripts").rglob("*.py"))

    def digests() -> list[str]:
        forget()
        return [provenance.code_digest(script) for script in scripts]

    before = digests()
    for study in STUDIES:
        shapes = tmp_path / "src" / "qdrank" / "studies" / study / "shapes.py"
        if shapes.is_file():
            shapes.write_text(shapes.read_text() + '\nNEW = Shape("new", {"query_id": pa.string()})\n')
            after = digests()
            changed = [script for script, old, new in zip(scripts, before, after, strict=True) if old != new]
            assert changed
            assert {script.parent.name for script in changed} == {study}
            before = after
    forget()


def test_a_shared_shape_concerns_those_who_name_it(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(project / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "SOURCE", tmp_path / "src")
    scripts = sorted((project / "scripts").rglob("*.py"))
    schemas = tmp_path / "src" / "qdrank" / "store" / "schemas.py"

    def changed_by(old: str, new: str) -> set[str]:
        before = [provenance.code_digest(script) for script in scripts]
        text = schemas.read_text()
        assert text.count(old) == 1
        schemas.write_text(text.replace(old, new))
        forget()
        after = [provenance.code_digest(script) for script in scripts]
        return {script.stem for script, a, b in zip(scripts, before, after, strict=True) if a != b}

    forget()
    last = '    Shape("figure", {}, open=True),\n]'
    assert changed_by(last, f'    Shape("brand_new", {{"x": _NUMBER}}),\n{last.lstrip()}') == set()
    named = changed_by('"budget": _TEXT', '"budget": _NUMBER')
    assert {"decide_claims", "write_index"} <= named
    assert len(named) < 6, named
    assert changed_by("_TEXT, _NUMBER = pa.string()", "_TEXT, _NUMBER = pa.large_string()") == {
        script.stem for script in scripts if "qdrank.store.schemas" in provenance.code_modules(script)
    }
    forget()
