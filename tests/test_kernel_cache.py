"""Compiled kernels are cached by the content of all kernels: a changed one is never served stale."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


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
            assert path.is_relative_to(source / "learners") or path.name.endswith("kernels.py"), path


def test_a_changed_kernel_gets_a_new_cache(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    before = cache_of(tmp_path / "src")
    assert before == cache_of(tmp_path / "src")
    kernel = next((tmp_path / "src" / "qdrank").rglob("*kernels*.py"))
    kernel.write_text(kernel.read_text() + "\n# changed\n")
    assert cache_of(tmp_path / "src") != before


@pytest.mark.full
def test_a_copy_of_the_library_finds_what_another_compiled(project: Path, tmp_path: Path) -> None:
    """And an edited kernel in the same cache is compiled anew."""
    code = (
        "from qdrank.learners.cps import footrule as f;"
        "print(f.py_func.__code__.co_filename); f(1.0, 1, 2); print(sum(f.stats.cache_hits.values()))"
    )
    found = []
    for name, edit in (("one", ""), ("other", ""), ("edited", "\n# edited\n")):
        shutil.copytree(project / "src", tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        kernels = tmp_path / name / "qdrank/learners/cps.py"
        kernels.write_text(kernels.read_text() + edit)
        environment = os.environ | {"PYTHONPATH": str(tmp_path / name), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", code]
        printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        assert str(kernels) in printed
        found.append(int(printed.split()[-1]))
    assert found == [0, 1, 0]


def test_no_kernel_leaves_the_order_of_a_sum_to_the_compiler(project: Path) -> None:
    for path in (project / "src" / "qdrank").rglob("*.py"):
        assert not re.search(r"^@(?:nb\.)?njit\(.*fastmath", path.read_text(), re.MULTILINE), path


# Every part of the engine: few and many models of a query, matrices of their own, exact Newton steps.
TRAINED = """
import hashlib
import numpy as np
from qdrank.learners.ranksvm.local import prepare_training, train_block
from qdrank.learners.ranksvm.preferences import prepare
from qdrank.learners.ranksvm.estimator import RankSVM

rng, digest = np.random.default_rng(0), hashlib.sha256()
for n, d in ((40, 8), (7, 3), (33, 46)):
    X, y = rng.normal(size=(30 * n, d)).astype(np.float32), rng.integers(0, 3, 30 * n)
    data = prepare(X, y, np.arange(0, 30 * n + 1, n))
    base = prepare_training(data)
    found = [base.single.w, base.slacks, base.gradients, base.curvature.kept(np.arange(30))]
    found += [train_block(base, np.array([rng.permutation(30)[:k] for _ in range(20)])).W for k in (1, 4, 20)]
    found += [RankSVM(loss="hinge").fit_preferences(data).coef_]
    for part in found:
        digest.update(part.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.full
def test_what_is_compiled_and_what_is_found_compiled_round_alike(tmp_path: Path) -> None:
    """LLVM optimises a function by itself and again within each that calls it; a process that compiles may run the one, later ones the other."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", TRAINED]
    found = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    assert found[0] == found[1]
