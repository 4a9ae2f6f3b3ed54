import re
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from qdrank.cli import main
from qdrank.store import read, write
from qdrank.store.schemas import SHAPES, VERDICT_FIGURES


def verdicts(path, dataset, effect, configuration="toy.yaml", **more):
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
        "queries_of": dataset,
        "estimates": [{"contrast": "difference", "n": 90, "mean": effect, "error": 0.01, "differing": 50.0}],
    }
    row |= dict.fromkeys(VERDICT_FIGURES, effect) | {"limit": None} | more
    write(path, "verdicts", pa.Table.from_pylist([row]))
    return str(path)


@pytest.fixture
def behind(tmp_path):
    """A folder of pages, by the configurations behind the study; with verdicts that someone wrote there before."""

    def of(*configurations):
        (tmp_path / "docs" / "verdicts").mkdir(parents=True)
        study = {"title": "Geng 2008", "grids": dict.fromkeys(configurations), "entries": [], "history": []}
        ledger = {"studies": {"geng2008": study}}
        (tmp_path / "docs" / "ledger.yaml").write_text(yaml.safe_dump(ledger), encoding="utf-8")
        page = tmp_path / "docs" / "verdicts" / "geng2008.md"
        page.write_text("old", encoding="utf-8")
        return page

    return of


def findings(page, *files):
    return main(["findings", *files, "--docs", str(page.parents[1])])


def test_runs_are_joined_in_one_table(behind, tmp_path):
    page = behind("config/a.yaml", "config/b.yaml")
    files = [verdicts(tmp_path / name, name, effect, f"{name}.yaml") for name, effect in (("a", 0.1), ("b", 0.2))]
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
    assert findings(page, *(verdicts(tmp_path / name, "one", 0.1, f"{name}.yaml") for name in "ab")) == 0
    assert "| one | one (b.yaml) |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "given",
    [["first.yaml"], ["a.yaml"], ["a.yaml", "b.yaml", "first.yaml"], ['a.yaml, geng={"k": 3}', "b.yaml"]],
    ids=["another", "one of two", "one more", "other values"],
)
def test_runs_that_are_not_behind_the_page_are_refused(given, behind, tmp_path, capsys):
    page = behind("config/a.yaml", "config/b.yaml")
    files = [verdicts(tmp_path / f"{place}.parquet", "one", 0.1, name) for place, name in enumerate(given)]
    assert findings(page, *files) == 2
    assert (
        f"{page}: verdicts of config/a.yaml, config/b.yaml by those of {', '.join(given)}\n" in capsys.readouterr().err
    )
    assert page.read_text(encoding="utf-8") == "old"


def test_a_study_that_the_ledger_lacks_is_refused(behind, tmp_path, capsys):
    page = behind("config/a.yaml")
    (page.parents[1] / "ledger.yaml").write_text("studies: {}\n", encoding="utf-8")
    assert findings(page, verdicts(tmp_path / "a", "one", 0.1, "a.yaml")) == 2
    assert "verdicts of no configuration by those of a.yaml" in capsys.readouterr().err


def test_a_folder_without_a_ledger_is_refused(tmp_path, capsys):
    assert findings(tmp_path / "docs" / "verdicts" / "x.md", verdicts(tmp_path / "one", "one", 0.1)) == 2
    assert f"{Path('docs') / 'ledger.yaml'}: no such file" in capsys.readouterr().err


def test_a_claim_that_two_runs_judge_is_refused(behind, tmp_path, capsys):
    page = behind("config/toy.yaml")
    assert findings(page, *(verdicts(tmp_path / name, "one", 0.1) for name in "ab")) == 2
    assert "geng2008 was decided on one twice by toy.yaml" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "old"


def test_an_average_is_made_of_the_sets_of_all_runs(behind, tmp_path):
    page = behind("config/a.yaml", "config/b.yaml")
    of = {name: ["one", "two"] if name == "a" else ["three", "four", "five"] for name in "ab"}
    files = []
    for name, datasets in of.items():
        given = {"configuration": f"{name}.yaml", "claim": "knn-online - single"}
        sets = [read(verdicts(tmp_path / place, place, 0.1, **given), "verdicts") for place in datasets]
        stale = verdicts(tmp_path / f"stale-{name}", "average", 9.0, analysis="sets", estimates=[], **given)
        write(tmp_path / name, "verdicts", pa.concat_tables([*sets, read(stale, "verdicts")]))
        files.append(str(tmp_path / name))
    assert findings(page, *files) == 0
    text = page.read_text(encoding="utf-8")
    assert "| average | one | two | three | four | five |" in text
    assert "| yes +0.100 | yes +0.100 |" in text
    assert "Made by `a.yaml` at commit abcdef0, `b.yaml` at commit abcdef0." in text
    assert "9.000" not in text
    assert "](geng2008.svg)\n\n| section |" in text
    assert "average of 5 sets" in page.with_suffix(".svg").read_text(encoding="utf-8")
