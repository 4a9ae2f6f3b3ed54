"""The shipped configurations of simulated data pass the check that comes before a run; a misspelt setting does not."""

from pathlib import Path

import numpy as np
import pytest

from qdrank.cli import main
from qdrank.datasets.simulated.known import simulate_affine


@pytest.mark.parametrize("name", ["affine", "first"])
def test_shipped_configurations_pass(name: str, project: Path) -> None:
    assert main(["config", "check", str(project / "config" / f"{name}.yaml")]) == 0


def test_a_misspelt_setting_of_simulated_text_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = "datasets: [mine]\nown:\n  mine: {kind: simulated, like: sim1, settings: {featurez: 9}}\n"
    (tmp_path / "mine.yaml").write_text(wrong)
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) != 0
    assert "did you mean features?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("like", "settings", "said"),
    [
        ("affine", "{shfit: 0}", "did you mean shift?"),
        ("affine", "{features: 1}", "features: Input should be greater than or equal to 2"),
        ("affine", "{train: 2.5}", "train: Input should be a valid integer"),
        ("affine", "{train: true}", "train: Input should be a valid integer"),
        ("affine", "{shift: .nan}", "shift: Input should be a finite number"),
        ("affine", "{documents: 9}", "documents: Input should be a valid tuple"),
        ("affine", "{documents: [9, 3]}", "from 9 to 3 a query is no range"),
        ("affine", "{seed: -1}", "seed: Input should be greater than or equal to 0"),
        ("simweb", "{one_rule: 1}", "one_rule: Input should be a valid boolean"),
        ("sim1", "{locality: [1, 2]}", "locality: Input should be a valid number"),
    ],
)
def test_a_wrong_setting_is_found_before_the_run(like, settings, said, tmp_path, capsys):
    own = f"datasets: [mine]\nown:\n  mine: {{kind: simulated, like: {like}, settings: {settings}}}\n"
    (tmp_path / "mine.yaml").write_text(own)
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) != 0
    found = capsys.readouterr().err
    assert said in found
    assert "own.mine.settings" in found


def test_settings_that_can_be_drawn_pass(tmp_path: Path) -> None:
    own = "{kind: simulated, like: affine, settings: {seed: 2, documents: [9, 12], shift: 1}}"
    (tmp_path / "mine.yaml").write_text(f"datasets: [mine]\nown:\n  mine: {own}\n")
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) == 0
    data = simulate_affine(2, train=3, vali=1, test=1, documents=[9, 12])
    assert all(9 <= n <= 12 for n in np.diff(data.offsets))
