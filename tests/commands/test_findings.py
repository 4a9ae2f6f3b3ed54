"""The table of findings, from the claims of one run or of several."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from qdrank.cli import main
from qdrank.commands.findings import BEGIN, END
from qdrank.store import write
from qdrank.store.schemas import SHAPES, VERDICT_FIGURES


def verdicts(path, dataset, effect, configuration="toy.yaml"):
    text = {name: "" for name, kind in SHAPES["verdicts"].columns.items() if kind == pa.string()}
    row = text | {"study": "geng2008", "paper": "Geng 2008", "claim": "a - b", "text": "A beats B", "dataset": dataset}
    row |= {
        "purpose": "finding",
        "kind": "superiority",
        "analysis": "queries",
        "verdict": "holds",
        "margin": 0.005,
        "n": 9,
        "fits": 1,
        "commit": "abcdef0",
        "configuration": configuration,
    }
    row |= dict.fromkeys(VERDICT_FIGURES, effect)
    write(path, "verdicts", pa.Table.from_pylist([row]))
    return str(path)


@pytest.fixture
def page(tmp_path):
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "geng2008.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    return path


def test_runs_are_joined_in_one_table(page, tmp_path):
    files = [verdicts(tmp_path / f"{name}.parquet", name, effect) for name, effect in (("one", 0.1), ("two", 0.2))]
    assert main(["findings", *files, "--docs", str(page.parent)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n{BEGIN}")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "| one | two |" in text
    assert "+0.100" in text
    assert "+0.200" in text
    assert "Made by `toy.yaml` at commit abcdef0." in text
    assert re.search(r"\d+ verdicts in \d+ families .*expected to be wrong by chance", text)


def test_a_folder_without_pages_is_refused(tmp_path, capsys):
    file = verdicts(tmp_path / "one.parquet", "one", 0.1)
    assert main(["findings", file, "--docs", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: no study has a page here" in capsys.readouterr().err


def test_two_configurations_may_judge_one_data_set(page, tmp_path):
    files = [verdicts(tmp_path / f"{name}.parquet", "one", 0.1, f"{name}.yaml") for name in "ab"]
    assert main(["findings", *files, "--docs", str(page.parent)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "| one | one (b.yaml) |" in text
    assert "Made by `a.yaml` at commit abcdef0, `b.yaml` at commit abcdef0." in text


def test_a_run_that_the_new_table_lacks_is_named(page, tmp_path, capsys):
    files = [verdicts(tmp_path / f"{name}.parquet", name, 0.1, f"{name}.yaml") for name in "ab"]
    assert main(["findings", *files, "--docs", str(page.parent)]) == 0
    assert "former" not in capsys.readouterr().out
    assert main(["findings", files[1], "--docs", str(page.parent)]) == 0
    printed = capsys.readouterr().out
    assert "  a.yaml made part of the former table; its claims.parquet was not given" in printed
    assert "b.yaml made" not in printed


def test_a_claim_that_two_runs_judge_is_refused(page, tmp_path, capsys):
    files = [verdicts(tmp_path / f"{name}.parquet", "one", 0.1) for name in "ab"]
    assert main(["findings", *files, "--docs", str(page.parent)]) != 0
    assert "geng2008 was decided on one twice by toy.yaml" in capsys.readouterr().err
    assert "old" in page.read_text(encoding="utf-8")
