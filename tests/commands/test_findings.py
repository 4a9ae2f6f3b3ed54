import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from qdrank.cli import main
from qdrank.evaluation.findings import write_findings
from qdrank.evaluation.values import observations_table
from qdrank.project import PROJECT
from qdrank.store import write
from qdrank.studies.geng2008.claims import declare
from qdrank.studies.geng2008.methods import MEASURE

BEGIN, END = "<!-- `qdrank findings` writes from here -->\n", "<!-- to here -->\n"
BUDGET = {"lam": 0.01, "candidates": [5], "lambdas": [0.1], "trees": None, "global_lambdas": [0.1]}


def made(path, *datasets, configuration="toy.yaml", gain=0.1, study="geng2008"):
    """A file of findings: KNN Online is above Single by ``gain`` on each data set."""
    values = []
    for number, name in enumerate(datasets):
        base = np.random.default_rng(number).uniform(0.2, 0.6, 200)
        rows = {"fold": "fold1", "query_id": [f"q{i:03}" for i in range(200)]}
        above = base + gain + 0.01 * np.sin(np.arange(200) + number)
        both = [pd.DataFrame(rows | {"method": m, MEASURE: v}) for m, v in (("knn-online", above), ("single", base))]
        values.append(path.parent / f"{path.name}-{name}")
        write(values[-1], "observations", observations_table({}, pd.concat(both), declare(BUDGET)))
    names = dict.fromkeys(datasets, "")
    about = {"study": study, "budget": BUDGET, "worlds": names, "configuration": configuration, "commit": "abcdef0"}
    about |= {"members": {name: [name] for name in datasets}, "queries_of": {name: name for name in datasets}}
    write_findings(path, about, dict(zip(datasets, values, strict=True)))
    return str(path)


@pytest.fixture
def behind(tmp_path):
    """A folder of pages, by the configurations behind the study; with verdicts that someone wrote there before."""

    def of(*configurations):
        (tmp_path / "docs" / "verdicts").mkdir(parents=True)
        study = {"title": "Geng 2008", "grids": dict.fromkeys(configurations), "entries": [], "history": []}
        ledger = {"studies": {"geng2008": study}}
        (tmp_path / "docs" / "ledger.yaml").write_text(yaml.safe_dump(ledger), encoding="utf-8")
        (tmp_path / "README.md").write_text(f"# Toy\n{BEGIN}old\n{END}last\n", encoding="utf-8")
        page = tmp_path / "docs" / "verdicts" / "geng2008.md"
        page.write_text("old", encoding="utf-8")
        return page

    return of


def findings(page, *files):
    return main(["findings", *files, "--docs", str(page.parents[1])])


def test_runs_are_joined_in_one_table(behind, tmp_path):
    page = behind("config/a.yaml", "config/b.yaml")
    given = (("a", 0.1), ("b", 0.2))
    files = [made(tmp_path / name, name, gain=gain, configuration=f"{name}.yaml") for name, gain in given]
    assert findings(page, *files) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Verdicts: Geng 2008\n")
    assert "| a | b |" in text
    assert "+0.100" in text
    assert "+0.200" in text
    assert "Made by `a.yaml` at commit abcdef0, `b.yaml` at commit abcdef0." in text
    assert re.search(r"\d+ verdicts in \d+ families .*expected to be wrong by chance", text)


def test_two_configurations_may_judge_one_data_set(behind, tmp_path):
    page = behind("config/a.yaml", "config/b.yaml")
    assert findings(page, *(made(tmp_path / name, "one", configuration=f"{name}.yaml") for name in "ab")) == 0
    assert "| one | one (b.yaml) |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "given",
    [["first.yaml"], ["a.yaml"], ["a.yaml", "b.yaml", "first.yaml"], ['a.yaml, geng={"k": 3}', "b.yaml"]],
    ids=["another", "one of two", "one more", "other values"],
)
def test_runs_that_are_not_behind_the_page_are_refused(given, behind, tmp_path, capsys):
    page = behind("config/a.yaml", "config/b.yaml")
    files = [made(tmp_path / f"{place}.parquet", "one", configuration=name) for place, name in enumerate(given)]
    assert findings(page, *files) == 2
    assert (
        f"{page}: verdicts of config/a.yaml, config/b.yaml by those of {', '.join(given)}\n" in capsys.readouterr().err
    )
    assert page.read_text(encoding="utf-8") == "old"


def test_a_study_that_the_ledger_lacks_is_refused(behind, tmp_path, capsys):
    page = behind("config/a.yaml")
    (page.parents[1] / "ledger.yaml").write_text("studies: {}\n", encoding="utf-8")
    assert findings(page, made(tmp_path / "a", "one", configuration="a.yaml")) == 2
    assert "verdicts of no configuration by those of a.yaml" in capsys.readouterr().err


def test_findings_of_an_unknown_study_are_refused(behind, tmp_path, capsys):
    assert findings(behind("config/toy.yaml"), made(tmp_path / "a", "one", study="geng2009")) == 2
    assert "did you mean geng2008?" in capsys.readouterr().err


def test_a_folder_without_a_ledger_is_refused(tmp_path, capsys):
    assert findings(tmp_path / "docs" / "verdicts" / "x.md", made(tmp_path / "one", "one")) == 2
    assert f"{Path('docs') / 'ledger.yaml'}: no such file" in capsys.readouterr().err


def test_a_folder_without_findings_is_refused(behind, capsys):
    assert findings(behind("config/toy.yaml")) == 2
    assert "no findings" in capsys.readouterr().err


def test_a_study_waits_for_all_of_its_findings(behind, tmp_path, capsys):
    page = behind("config/a.yaml", "config/b.yaml")
    kept = page.parents[1] / "findings" / "geng2008"
    kept.mkdir(parents=True)
    made(kept / "a.parquet", "one", configuration="a.yaml")
    assert findings(page) == 2
    assert f"geng2008: its page waits for b.parquet in {kept}\n" in capsys.readouterr().err
    made(kept / "b.parquet", "two", configuration="b.yaml")
    assert findings(page) == 0
    assert "| one | two |" in page.read_text(encoding="utf-8")
    ledger = page.parents[1] / "ledger.yaml"
    studies = yaml.safe_load(ledger.read_text(encoding="utf-8"))["studies"]
    ledger.write_text(
        yaml.safe_dump({"studies": studies | {"lin2011": {"title": "Lin 2011", "grids": {"c.yaml": ""}}}})
    )
    assert findings(page) == 0
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| [Geng 2008](docs/studies/geng2008.md) | | too few independent sets for an average | |\n" in readme
    assert "| [Lin 2011](docs/studies/lin2011.md) | | not all of its runs are made yet | |\n" in readme


def test_a_claim_that_two_runs_judge_is_refused(behind, tmp_path, capsys):
    page = behind("config/toy.yaml")
    assert findings(page, *(made(tmp_path / name, "one") for name in "ab")) == 2
    assert "geng2008 was decided on one twice by toy.yaml" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "old"


def test_an_average_is_made_of_the_sets_of_all_runs(behind, tmp_path):
    page = behind("config/a.yaml", "config/b.yaml")
    of = {"a": ["one", "two"], "b": ["three", "four", "five"]}
    assert findings(page, *(made(tmp_path / name, *of[name], configuration=f"{name}.yaml") for name in of)) == 0
    text = page.read_text(encoding="utf-8")
    assert "| average | one | two | three | four | five |" in text
    assert "| yes +0.100 | yes +0.100 |" in text
    assert "Made by `a.yaml` at commit abcdef0, `b.yaml` at commit abcdef0." in text
    assert "](geng2008.svg)\n\n| claim | purpose |" in text
    assert "average of 5 sets" in page.with_suffix(".svg").read_text(encoding="utf-8")
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"# Toy\n{BEGIN}| study |")
    assert "| [Geng 2008](docs/studies/geng2008.md) | KNN Online beats Single | +0.1000 [+0.0" in readme
    assert "] NDCG, 5 sets | holds |\n\n6 verdicts in " in readme
    assert readme.endswith(
        f"by chance: 6 families have intervals, those of a family miss at 5 % together, and nothing is corrected across families and data sets.\n{END}last\n"
    )


def test_pages_that_are_not_what_the_findings_say_fail_the_check(behind, tmp_path, capsys):
    page = behind("config/toy.yaml")
    kept = page.parents[1] / "findings" / "geng2008" / "toy.parquet"
    kept.parent.mkdir(parents=True)
    made(kept, "one")
    for name in ("toy.parquet-one",):
        (kept.parent / name).unlink()
    assert findings(page, "--check") == 1
    assert page.read_text(encoding="utf-8") == "old"
    assert findings(page) == findings(page, "--check") == 0
    readme = tmp_path / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("verdicts in", "verdict in"), encoding="utf-8")
    capsys.readouterr()
    assert findings(page, "--check") == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{readme}: differs from what the findings say")
    assert str(page) not in said
    page.write_text(page.read_text(encoding="utf-8").replace("+0.1", "+0.2"), encoding="utf-8")
    assert findings(page, "--check") == 1
    assert f"{page}: differs" in capsys.readouterr().err


def test_the_places_of_a_study_are_filled_with_the_claims_that_fit(behind, tmp_path):
    page = behind("config/toy.yaml")
    (tmp_path / "docs" / "studies").mkdir()
    of_study = tmp_path / "docs" / "studies" / "toy.md"
    marks = [
        BEGIN.replace("from", f"{study} from") for study in ("geng2008: knn-online*, curve*", "geng2008: x*", "lin")
    ]
    of_study.write_text("".join(f"{mark}old\n{END}" for mark in marks), encoding="utf-8")
    assert findings(page, made(tmp_path / "toy", "one", "two", "three", "four", configuration="toy.yaml")) == 0
    found, none, other = of_study.read_text(encoding="utf-8").split(END)[:3]
    assert "| KNN Online beats Single | +0.1000 [+0.0" in found
    assert "NDCG, 4 sets | yes |" in found
    assert "KNN Offline-1" not in found
    assert "KNN Online" not in none
    assert other == f"{marks[2]}old\n"


def test_a_readme_without_marks_is_refused(behind, tmp_path, capsys):
    page = behind("config/toy.yaml")
    (tmp_path / "README.md").write_text("# Toy\n", encoding="utf-8")
    assert findings(page, made(tmp_path / "a", "one")) == 2
    assert "no place for the table of findings" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "old"


def test_the_pages_of_this_project_are_what_its_findings_say():
    """Where findings are kept; pages of runs before there were such files are those that the runs wrote."""
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert readme.count(BEGIN) == readme.count(END) == 1
    studies = yaml.safe_load((PROJECT / "docs" / "ledger.yaml").read_text(encoding="utf-8"))["studies"]
    kept = {
        study: {path.stem for path in (PROJECT / "docs" / "findings" / study).glob("*.parquet")} for study in studies
    }
    if any(kept[study] == {Path(file).stem for file in of["grids"]} for study, of in studies.items()):
        assert main(["findings", "--check", "--docs", str(PROJECT / "docs")]) == 0
