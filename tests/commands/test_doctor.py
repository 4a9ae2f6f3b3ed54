"""`qdrank doctor`, and the word that compiling takes a while."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.commands import doctor
from qdrank.kernel_cache import announce, n_compiled


def test_a_machine_that_can_run_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)
    assert main(["doctor"]) == 0
    printed = capsys.readouterr().out
    for what in ("Python", "Snakemake", "cores", "memory", "disk", "mirror", "kernels", "SLURM"):
        assert what in printed


def test_what_would_stop_a_run_fails(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANK_MIRROR", "/nowhere/at/all")
    assert main(["doctor"]) == 1
    assert "FAIL  mirror     /nowhere/at/all is not a folder\n      fix:       correct" in capsys.readouterr().out


def test_a_slurm_that_does_not_answer_is_told(tmp_path: Path) -> None:
    sinfo = tmp_path / "sinfo"
    for text, words in (
        ("exit 0", "reachable"),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", "not reachable: Unable to contact slurm controller"),
    ):
        sinfo.write_text(f"#!/bin/sh\n{text}\n")
        sinfo.chmod(0o755)
        assert words in doctor._slurm(str(sinfo)).found
    assert doctor._slurm(None).fix == ""


def test_compiling_is_announced_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert n_compiled() == 0
    announce()
    assert "compiling for this machine" in capsys.readouterr().err
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kernel.1.nbc").touch()
    announce()
    assert capsys.readouterr().err == ""


@pytest.mark.full
def test_the_doctor_compiles_what_the_commands_use(tmp_path: Path) -> None:
    """After it, `qdrank evaluate` adds nothing to the cache."""
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    run = [sys.executable, "-m", "qdrank.cli"]
    subprocess.run([*run, "doctor", "--compile"], env=variables, check=True, capture_output=True)
    compiled = set((tmp_path / "cache").rglob("*.nbc"))
    assert compiled
    (tmp_path / "f.txt").write_text(
        "1\tqid:1 1:0.5 #docid = a\n0 qid:1 1:0.25 #docid = b\n"
    )  # a tab: read by the kernels
    (tmp_path / "s.txt").write_text("1\n2\n")
    subprocess.run([*run, "evaluate", tmp_path / "f.txt", tmp_path / "s.txt"], env=variables, check=True)
    assert set((tmp_path / "cache").rglob("*.nbc")) == compiled
