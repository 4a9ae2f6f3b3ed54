"""The look-up of the rules that may make a file is Snakemake's own, only faster."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.output_index import OutputIndex

ORIGINAL = OutputIndex.match


@pytest.fixture
def match(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(OutputIndex, "match", ORIGINAL)  # restored afterwards
    return runpy.run_path(str(project / "workflow" / "rules" / "lookup.smk"))["match"]


def rule(*outputs: tuple[str, str]):
    made = [SimpleNamespace(constant_prefix=lambda p=p: p, constant_suffix=lambda s=s: s) for p, s in outputs]

    class Rule:
        products = staticmethod(lambda: made)

    return Rule()


def test_the_same_rules_are_found(match) -> None:
    rules = [
        rule(("results/", "/a.parquet"), ("results/", "/b.parquet")),
        rule(("results/", "/a.parquet")),
        rule(("results/", "")),
        rule(("", ".parquet")),
        rule(("results/x/a.parquet", "results/x/a.parquet")),
        rule(("logs/", ".log")),
        rule(("results/mq", "/b.parquet")),
    ]
    index = OutputIndex(rules)
    assert OutputIndex.match is match
    files = [
        "results/x/a.parquet",
        "results/mq/b.parquet",
        "results/",
        "x",
        "",
        "logs/a.log",
        "a.parquet",
        "/b.parquet",
    ]
    found = {file: index.match(file) for file in files}
    assert found == {file: ORIGINAL(index, file) for file in files}
    assert len(found["results/x/a.parquet"]) == 5


def test_another_kind_of_table_keeps_its_own_look_up(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutputIndex, "match", ORIGINAL)
    monkeypatch.setattr(OutputIndex, "__init__", lambda self, rules: None)
    runpy.run_path(str(project / "workflow" / "rules" / "lookup.smk"))
    assert OutputIndex.match is ORIGINAL
