"""The shipped configurations of simulated data pass the check that comes before a run; a misspelt setting does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from qdrank.cli import main


@pytest.mark.parametrize("name", ["affine", "first", "scale"])
def test_shipped_configurations_pass(name: str, project: Path) -> None:
    assert main(["config", "check", str(project / "config" / f"{name}.yaml")]) == 0


def test_a_misspelt_setting_of_simulated_text_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "datasets: [mine]\nown:\n  mine: {kind: simulated, like: web, settings: {featurez: 9}}\n"
    (tmp_path / "mine.yaml").write_text(wrong)
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) != 0
    assert "did you mean features?" in capsys.readouterr().err
