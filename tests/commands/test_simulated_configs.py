"""The shipped configurations of simulated data pass the check that comes before a run; a misspelt setting does not."""

import pytest

from qdrank.cli import main


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
