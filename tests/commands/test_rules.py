"""``qdrank rules``: what is printed is Snakemake, and is what the workflow has."""

import subprocess
import sys
from pathlib import Path

import pytest

from qdrank.cli import main

PROJECT = Path(__file__).resolve().parents[2]
TINY = str(PROJECT / "tests/configs/tiny.yaml")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["rules", *words, "--configfile", TINY]) == 0
    return capsys.readouterr().out


def test_printed_rules_are_a_rule_file_of_snakemake(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = printed(capsys)
    file = tmp_path / "Snakefile"
    file.write_text(f"from qdrank.workflow.resources import memory, minutes\n\n{text}")
    words = [sys.executable, "-m", "snakemake", "--snakefile", str(file), "--directory", str(tmp_path), "--list-rules"]
    listed = subprocess.run(words, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    names = {line.partition(" ")[0] for line in listed.stdout.splitlines()}
    assert {"fit_hoi", "draw_hoi_fig1", "claim_zha"} <= names


def test_rules_of_a_study_a_rule_and_a_near_name(capsys: pytest.CaptureFixture[str]) -> None:
    of_study = printed(capsys, "hoi")
    assert of_study == printed(capsys, "hoi2008")
    assert "rule fit_hoi:" in of_study
    assert "_geng" not in of_study
    rule = printed(capsys, "draw_hoi_fig1")
    assert rule in of_study
    assert 'f0_svg=report("results/{dataset}/figures/hoi-fig1.svg"),' in rule
    assert main(["rules", "draw_hoi_curv", "--configfile", TINY]) == 2
    assert "did you mean draw_hoi_curve?" in capsys.readouterr().err
