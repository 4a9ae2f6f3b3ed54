"""The ledger of declarations: every claim, grid and list of methods is in it, and a planted change is refused.

"Written before the numbers" is a statement about history, so it is kept as a record that a test can refuse. An entry
names the commit that declared its claims in their present form, the first commit with a result, what was changed between
the two and why, and earlier results. Every claim, grid and list of methods has a digest in the ledger; one that is
changed without a new digest, and so without someone reading the entry, fails here.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from qdrank.datasets.sources import load
from qdrank.errors import InputError
from qdrank.evaluation.declared import Claim, Rules
from qdrank.rankers.methods import GRIDS
from qdrank.registry import loaded
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import load_sources, merged

_FIELDS = ("name", "text", "expected", "kind", "margin", "limit", "unit", "family", "purpose", "measure")
"""What makes a claim; its budget is in the grids, its note explains."""
ENTRY = ("declared", "result", "changed", "earlier")


@dataclass(frozen=True)
class Present:
    """What a study declares now.

    Attributes
    ----------
    claims : its claims
    methods : name, label and models of every method; how a method computes is code, and its history that of the code
    grids : by the file of the configuration, all settings of the study, those of training, and the number of fits
    """

    claims: Sequence[Claim]
    methods: Sequence[Sequence[str]]
    grids: Mapping[str, Mapping[str, Any]]


def digest(value: Any) -> str:
    """Eight hexadecimal digits of any value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def claim_digest(claim: Claim) -> str:
    """Digest of all that makes a claim."""
    return digest([getattr(claim, name) for name in _FIELDS])


def problems(name: str, recorded: Mapping[str, Any], now: Present) -> Iterator[str]:
    """What a study declares differently from the ledger, in words; nothing if they agree."""
    known = {claim: value for entry in recorded["entries"] for claim, value in entry["claims"].items()}
    present = {claim.name: claim_digest(claim) for claim in now.claims}
    yield from differences(f"{name}: claim", known, present)
    yield from differences(f"{name}: grid of", recorded["grids"], {file: digest(g) for file, g in now.grids.items()})
    yield from differences(f"{name}: list of", {"methods": recorded["methods"]}, {"methods": digest(now.methods)})


def differences(what: str, known: Mapping[str, str], present: Mapping[str, str]) -> Iterator[str]:
    """Digests that are not those of the ledger, in words."""
    for key, value in present.items():
        if known.get(key) != value:
            was = f"changed, and the ledger has {known[key]}" if key in known else "is not in the ledger"
            yield f"{what} {key!r} {was}: say what was changed and why, what was known by then, and write {value}"
    yield from (f"{what} {key!r} is in the ledger and declared no more" for key in known if key not in present)


def checked(ledger: Mapping[str, Any]) -> Mapping[str, Any]:
    """The ledger, if every entry says all that an entry must."""
    for name, study in ledger["studies"].items():
        for entry in study["entries"]:
            if missing := [field for field in (*ENTRY, "claims") if field not in entry]:
                raise InputError(f"the ledger's entry of {name} lacks {', '.join(missing)}")
    return ledger


ROOT = Path(__file__).parents[1]
LEDGER = checked(yaml.safe_load((ROOT / "docs" / "ledger.yaml").read_text(encoding="utf-8")))


def settings(name, file):
    """All that decides what a study computes, in one configuration, by section; empty where it is not run."""
    values = merged(load_sources([ROOT / file]))
    short = STUDIES[name].short
    idle = values["studies"] is not None and short not in values["studies"]
    if idle or values[short]["datasets"] == []:
        return {}
    section = {key: value for key, value in values[short].items() if key != "datasets"}
    training = {key: value for key, value in values["training"].items() if key != "tree_threads"}  # changes no number
    return {short: section, "training": training | {"refits": values["refits"]}}


def budget(name, of_file):
    """Values of the keys that a study's claims name as the budget."""
    keys = [(key.partition(" as ")[0].split("."), key.partition(" as ")[2]) for key in STUDIES[name].budget]
    return {called or field: of_file[section][field] for (section, field), called in keys}


def present(name):
    """What a study declares now; its claims do not depend on the grid but for their budget."""
    grids = {file: of_file for file in LEDGER["configurations"] if (of_file := settings(name, file))}
    claims = tuple(loaded(STUDIES[name].claims)(budget(name, next(iter(grids.values())))))
    module = import_module(STUDIES[name].claims.partition(":")[0].rpartition(".")[0] + ".methods")
    methods = [[method.name, method.label, method.models] for method in module.METHODS]
    return Present(claims, methods, grids)


def independent_sets(name):
    """Public data sets behind a study's averages: of those with the same queries the first, in the order of the configurations."""
    first = {}
    for file in LEDGER["studies"][name]["grids"]:
        values = merged(load_sources([ROOT / file]))
        wanted = values[STUDIES[name].short]["datasets"]
        known = {key: {"kind": row.kind, "queries_of": row.queries_of} for key, row in load().items()} | values["own"]
        for dataset in values["datasets"]:
            if (wanted is None or dataset in wanted) and known[dataset]["kind"] != "simulated":
                first.setdefault(known[dataset].get("queries_of") or dataset, dataset)
    return list(first.values())


@pytest.mark.parametrize("name", list(STUDIES))
def test_averages_are_over_the_sets_of_the_ledger(name):
    assert independent_sets(name) == LEDGER["studies"][name]["sets"]


@pytest.mark.parametrize("name", list(STUDIES))
def test_nothing_is_declared_that_the_ledger_does_not_have(name):
    assert list(problems(name, LEDGER["studies"][name], present(name))) == []


def test_rules_of_verdicts_and_grids_of_learners_are_those_of_the_ledger():
    shared = {"rules of verdicts": asdict(Rules()), "grids of learners": GRIDS}
    known = LEDGER["shared"]
    assert list(differences("all studies:", known, {key: digest(value) for key, value in shared.items()})) == []
    shared["rules of verdicts"] = asdict(Rules(differing=9))
    now = {key: digest(value) for key, value in shared.items()}
    assert ["'rules of verdicts' changed" in text for text in differences("all studies:", known, now)] == [True]


def test_a_default_run_has_the_grids_of_the_findings():
    """But for what a configuration leaves out, adds or makes smaller for its time, as its page says."""
    apart = {
        ("geng2008", "config/sources.yaml"): {"trees"},
        ("geng2008", "config/dense-neighbours.yaml"): {"trees"},
        ("lin2011", "config/nfcorpus.yaml"): {"ms", "lambdas"},
        ("zha2006", "config/seeds.yaml"): {"regressors"},
        ("zha2006", "config/affine.yaml"): {"targets", "gains"},
        ("hoi2008", "config/hoi2008.yaml"): {"baselines"},
        ("hybrid", "config/hybrid-dense.yaml"): {"papers"},
    }
    for name in STUDIES:
        default = settings(name, "config/config.yaml")
        for file in LEDGER["configurations"]:
            of_file = settings(name, file)
            other = {
                key for section in of_file for key, value in of_file[section].items() if value != default[section][key]
            }
            assert other == apart.get((name, file), set()), (name, file)


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
    for section, key in (("geng", "lambdas"), ("geng", "classes"), ("training", "starts")):
        finer = replace(now, grids={**now.grids, file: {**grid, section: {**grid[section], key: [3.0]}}})
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


def test_every_page_of_a_study_leads_to_the_ledger():
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
