"""Compiled kernels are cached by the content of all kernels: a changed one is never served stale."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def cache_of(source: Path) -> str:
    code = "import qdrank, os; print(os.environ['NUMBA_CACHE_DIR'])"
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {"PYTHONPATH": str(source)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_every_compiled_function_is_in_a_kernel_module(project: Path) -> None:
    source = project / "src" / "qdrank"
    for path in source.rglob("*.py"):
        if re.search(r"^@(?:nb\.)?njit|^@vectorize", path.read_text(), re.MULTILINE):
            assert "kernels" in str(path.relative_to(source)), path


def test_a_changed_kernel_gets_a_new_cache(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    before = cache_of(tmp_path / "src")
    assert before == cache_of(tmp_path / "src")
    kernel = next((tmp_path / "src" / "qdrank").rglob("*kernels*.py"))
    kernel.write_text(kernel.read_text() + "\n# changed\n")
    assert cache_of(tmp_path / "src") != before


def test_a_copy_of_the_library_finds_what_another_compiled(project: Path, tmp_path: Path) -> None:
    """And an edited kernel in the same cache is compiled anew."""
    code = (
        "import numpy as np; from qdrank.measures.kernels import ideal_grades as f;"
        "print(f.py_func.__code__.co_filename);"
        "f(np.array([0, 1]), np.array([0, 2]), 2); print(sum(f.stats.cache_hits.values()))"
    )
    found = []
    for name, edit in (("one", ""), ("other", ""), ("edited", "\n# edited\n")):
        shutil.copytree(project / "src", tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        kernels = tmp_path / name / "qdrank/measures/kernels.py"
        kernels.write_text(kernels.read_text() + edit)
        environment = os.environ | {"PYTHONPATH": str(tmp_path / name), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", code]
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert str(kernels) in printed
        found.append(int(printed.split()[-1]))
    assert found == [0, 1, 0]
