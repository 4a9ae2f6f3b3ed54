import contextlib
import re
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from qdrank.cli import main
from qdrank.commands.config import check_simulated
from qdrank.errors import InputError
from qdrank.workflow.config import WholeSettings
from qdrank.workflow.config_files import default_yaml, generated, load_sources, load_yaml, resolve
from qdrank.workflow.own_data import SimulatedVariant, TrecCollection


def fault(values: dict, file: str = "mine.yaml") -> str:
    with pytest.raises(InputError) as caught:
        resolve(values, [("config/config.yaml", {}), (file, values)])
    return str(caught.value)


def test_generated_files_are_in_step_with_the_models(project: Path) -> None:
    stale = [name for name, text in generated().items() if (project / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run `qdrank config generate`: {stale}"


def test_the_default_file_is_the_default_configuration() -> None:
    assert WholeSettings.model_validate(yaml.safe_load(default_yaml())) == WholeSettings()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"own": {"x": {"kind": "TREC"}}}, "mine.yaml: own.x.kind: unknown kind 'TREC'; did you mean trec?"),
        ({"queries": {"top": 0}}, "mine.yaml: queries.top: Input should be greater than or equal to 1 (found 0)"),
        ({"datasets": ["$(touch x)"]}, "String should match pattern"),
        ({"datasets": ["../up"]}, "String should match pattern"),
        ({"own": {"x": {"kind": "letor", "files": "a"}}}, "own.x.files: must have keys, as in files: {key: value}"),
        (
            {"own": {"x": {"kind": "letor", "files": {"all": "a"}, "referense": 1}}},
            "own.x.referense: unknown key; did you mean reference?",
        ),
        (
            {"learners": {"grids": {"ranksvm": {"lam": 0.1}}}},
            "learners.grids.ranksvm.lam: Input should be a valid list",
        ),
        ({"learners": {"measure": "ndgc@5/letor4"}}, "did you mean ndcg@5/letor4?"),
        ({"learners": {"scales": {"mq2008": "min"}}}, "learners.scales.mq2008: Input should be 'auto'"),
    ],
)
def test_a_fault_names_file_key_and_mend(values: dict, words: str) -> None:
    assert words in fault(values)


def test_a_fault_of_no_file_is_one_of_a_workflow_that_uses_this_one() -> None:
    with pytest.raises(InputError, match="the module's config: sed: unknown key; did you mean seed"):
        resolve({"sed": 1}, [("config/config.yaml", {"seed": 2})])


def test_all_faults_are_told_at_once() -> None:
    assert re.search("sed.*mising", fault({"sed": 1, "mising": "skip"}), re.DOTALL)


def test_an_empty_section_is_empty() -> None:
    assert resolve({"own": None}).own == {}
    assert resolve({"learners": {"methods": None}}).learners.methods is None  # all


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words", "", "a: [1, 2", "\x00"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=r"bad\.yaml"):
        load_yaml(file)


def test_wrong_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"seed: \xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        load_sources([tmp_path / "bad.yaml"])


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from([*WholeSettings.model_fields, "neighbors", ""])


@given(st.dictionaries(keys, values, max_size=4))
def test_any_values_resolve_or_are_refused_in_words(given_values: dict) -> None:
    with contextlib.suppress(InputError):
        resolve(given_values, [("mine.yaml", given_values)])


def test_the_command_checks_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.yaml").write_text("seed: 7\n")
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) == 0
    printed, said = capsys.readouterr()
    assert said == ""  # nothing about data sets that the default configuration brings
    assert "seed: 7" in printed
    last = printed.splitlines()[-1]
    assert last.startswith("# ok: simweb, 1 fold: geng, hoi, ")
    assert yaml.safe_load(printed)["seed"] == 7  # the last line is a comment
    (tmp_path / "mine.yaml").write_text("sead: 7\n")
    assert main(["config", "check", str(tmp_path / "mine.yaml")]) == 2
    assert "did you mean seed?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets: [x]\nown: {x: {kind: letor, files: {all: /dev/null}, reference: 1}}\n", "files.all: not a file"),
        ("training: {measure: ndgc@10/letor4}\n", "unknown measure 'ndgc@10/letor4'"),
        ("own: {cranfield: {kind: beir, folder: .}}\n", "there is a registered data set called cranfield"),
        (
            "datasets: [x]\nown: {x: {kind: simulated, like: two-runs, settings: {querys: 9}}}\n",
            "did you mean queries?",
        ),
        (
            "datasets: [x]\nown: {x: {kind: simulated, like: two-runs, settings: {dependence: 2}}}\n",
            "less than or equal to 1",
        ),
        ("datasets: [mq2008]\n", "is not available"),
    ],
)
def test_the_check_finds_what_would_stop_a_run(tmp_path, monkeypatch, capsys, text, words):
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(text)
    assert main(["config", "check", "mine.yaml"]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("like", get_args(SimulatedVariant.model_fields["like"].annotation))
def test_the_check_knows_every_simulated_data_set(like: str) -> None:
    check_simulated("x", {"like": like, "seed": 2})
    with pytest.raises(InputError, match="unknown setting 'nothing'"):
        check_simulated("x", {"like": like, "seed": 2, "nothing": 1})


def test_a_former_name_of_a_key_leads_to_the_present_one() -> None:
    files = {"kind": "trec", "documents": "docs", "topics": "topics", "qrels": "qrels"}
    with pytest.raises(ValidationError, match="the key parts is called topic_fields now"):
        TrecCollection(**files, parts=["title"])
    assert TrecCollection(**files, topic_fields=["desc"]).topic_fields == ["desc"]
