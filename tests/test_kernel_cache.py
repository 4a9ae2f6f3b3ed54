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
