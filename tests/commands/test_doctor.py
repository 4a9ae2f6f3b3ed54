import os
import subprocess
import sys
from pathlib import Path

import pytest

from qdrank.cli import main
from qdrank.commands import doctor


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


@pytest.mark.full
def test_the_doctor_compiles_what_training_uses(tmp_path: Path) -> None:
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, "-m", "qdrank.cli", "doctor", "--compile"], env=variables, check=True, capture_output=True
    )
    assert list((tmp_path / "cache").rglob("*.nbc"))


def test_measuring_loads_no_compiler(tmp_path: Path) -> None:
    """Whatever the form of the file."""
    (tmp_path / "f.txt").write_text("1\tqid:1 1:0.5 #docid = a\n0 qid:1 2:0.25 # b\n")
    (tmp_path / "s.txt").write_text("1\n2\n")
    code = "import sys; from qdrank.cli import main; main(sys.argv[1:]); print('numba' in sys.modules)"
    run = [sys.executable, "-c", code, "evaluate", str(tmp_path / "f.txt"), str(tmp_path / "s.txt")]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout.endswith("False\n")
