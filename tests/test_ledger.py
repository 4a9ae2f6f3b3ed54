"""The ledger of declarations: every claim, grid and list of methods is in it, and a planted change is refused."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from qdrank.errors import InputError
from qdrank.evaluation.ledger import Present, checked, claim_digest, ledger_page, problems
from qdrank.registry import loaded
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import load_sources, merged

ROOT = Path(__file__).parents[1]
LEDGER = checked(yaml.safe_load((ROOT / "docs" / "ledger.yaml").read_text(encoding="utf-8")))


def budget(name, file):
    """Values of the keys that a study's claims name as the budget, in one configuration; empty where it is not run."""
    values = merged(load_sources([ROOT / file]))
    short = STUDIES[name].short
    idle = values["studies"] is not None and short not in values["studies"]
    if idle or values[short]["datasets"] == []:
        return {}
    found = {}
    for key in STUDIES[name].budget:
        where, _, called = key.partition(" as ")
        section, _, field = where.partition(".")
        found[called or field] = values[section][field]
    return found


def present(name):
    """What a study declares now; its claims do not depend on the grid but for their budget."""
    grids = {file: grid for file in LEDGER["configurations"] if (grid := budget(name, file))}
    claims = tuple(loaded(STUDIES[name].claims)(next(iter(grids.values()))))
    module = import_module(STUDIES[name].claims.partition(":")[0].rpartition(".")[0] + ".methods")
    methods = [[method.name, method.label, method.models] for method in module.METHODS]
    return Present(claims, methods, grids)


@pytest.mark.parametrize("name", list(STUDIES))
def test_nothing_is_declared_that_the_ledger_does_not_have(name):
    assert list(problems(name, LEDGER["studies"][name], present(name))) == []


def test_a_default_run_has_the_grids_of_the_findings():
    """But for those that a configuration leaves out or makes smaller for its time, as its page says."""
    smaller = {
        ("geng2008", "config/seeds.yaml"): {"trees"},
        ("lin2011", "config/nfcorpus.yaml"): {"ms", "lambdas"},
    }
    for name in STUDIES:
        default = budget(name, "config/config.yaml")
        for file in LEDGER["configurations"]:
            other = {key for key, value in budget(name, file).items() if value != default[key]}
            assert other == smaller.get((name, file), set()), (name, file)


def test_a_planted_change_of_a_claim_a_grid_or_a_method_is_refused():
    now, recorded = present("geng2008"), LEDGER["studies"]["geng2008"]
    first, *rest = now.claims
    wider = replace(now, claims=(replace(first, margin=first.margin / 2), *rest))
    assert [text.split(":")[1] for text in problems("geng2008", recorded, wider)] == [
        f" claim {first.name!r} changed, and the ledger has {claim_digest(first)}"
    ]
    new = replace(now, claims=(*now.claims, replace(first, name="one more")))
    assert ["'one more' is not in the ledger" in text for text in problems("geng2008", recorded, new)] == [True]
    fewer = replace(now, claims=tuple(rest))
    assert ["declared no more" in text for text in problems("geng2008", recorded, fewer)] == [True]
    file, grid = next(iter(now.grids.items()))
    finer = replace(now, grids={**now.grids, file: {**grid, "lambdas": [*grid["lambdas"], 3.0]}})
    assert [f"grid of {file!r} changed" in text for text in problems("geng2008", recorded, finer)] == [True]
    other = replace(now, methods=[*now.methods, ["knn-new", "KNN, new", "neighbours"]])
    assert ["list of 'methods' changed" in text for text in problems("geng2008", recorded, other)] == [True]


def test_make_findings_runs_what_the_pages_come_from():
    line = next(
        row for row in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines() if row.startswith("ALL_FINDINGS")
    )
    assert [f"config/{name}.yaml" for name in line.partition(":=")[2].split()] == LEDGER["configurations"]


def test_an_entry_says_all_that_it_must():
    with pytest.raises(InputError, match="lacks declared, result, changed, earlier"):
        checked({"studies": {"toy": {"entries": [{"claims": {}}]}}})


def test_the_page_is_that_of_the_ledger():
    page = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    assert page == ledger_page(LEDGER), "docs/ledger.md is not of docs/ledger.yaml: qdrank findings --ledger"
    for name in STUDIES:
        assert "ledger.md" in (ROOT / "docs" / "studies" / f"{name}.md").read_text(encoding="utf-8"), name


def test_the_commits_exist():
    import subprocess

    known = subprocess.run(["git", "log", "--format=%h"], cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode or len(known.stdout.split()) < 400:
        pytest.skip("not a full clone")
    named = {
        entry[field].split()[0]
        for s in LEDGER["studies"].values()
        for entry in s["entries"]
        for field in ("declared", "result")
    }
    named |= {str(row[0]) for s in LEDGER["studies"].values() for row in s["history"]}
    assert {name[:7] for name in named if name != "none"} <= {line[:7] for line in known.stdout.split()}
