import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from qdrank.datasets.sources import load
from qdrank.errors import InputError
from qdrank.studies import STUDIES
from qdrank.workflow.config_files import resolve
from qdrank.workflow.plan import plan, shards_of
from qdrank.workflow.run import WorkflowRun


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("QDRANK_MIRROR", raising=False)
    monkeypatch.chdir(tmp_path)


def letor(**files: str) -> dict:
    return {"datasets": ["mine"], "own": {"mine": {"kind": "letor", "files": files, "reference": 1}}}


def test_simulated_data_need_nothing() -> None:
    study = plan(resolve({"datasets": ["sim1", "sim2"], "seed": 5}))
    assert study.of_kind("simulated") == ["sim1", "sim2"]
    assert study.datasets["sim1"].folds == ("fold1",)
    assert study.datasets["sim1"].options["seed"] == 5


def test_absence_stops_with_the_instruction() -> None:
    with pytest.raises(InputError, match="accept the agreement"):
        plan(resolve({"datasets": ["mq2008"]}))


def test_an_encoder_is_known_by_name_or_a_folder(tmp_path: Path) -> None:
    named = plan(resolve({"datasets": ["sim1"], "encoder": "minilm"}))
    assert (dict(named.encoder), named.encoders) == ({"folder": "resources/downloads/minilm"}, ("minilm",))
    (tmp_path / "e5").mkdir()
    own = {"folder": "e5", "queries": "query: "}
    given = plan(resolve({"datasets": ["sim1"], "encoder": own}), [tmp_path])
    assert (dict(given.encoder), given.encoders) == (own, ())
    assert not plan(resolve({"datasets": ["sim1"]})).encoder


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"encoder": "miniln"}, "did you mean minilm?"),
        ({"encoder": {"folder": "nowhere"}}, "encoder.folder: no such folder"),
        ({"text": {"features": ["first", "dense"]}}, "text.features: dense needs an encoder"),
        ({"queries": {"vectors": "dense"}}, "queries.vectors: dense needs an encoder"),
    ],
)
def test_an_encoder_that_is_not_there_is_named(config: dict, words: str) -> None:
    with pytest.raises(InputError, match=re.escape(words)):
        plan(resolve({"datasets": ["sim1"], **config}))


def test_absence_can_be_skipped_if_something_is_left() -> None:
    study = plan(resolve({"datasets": ["mq2008", "sim1"], "missing": "skip"}))
    assert list(study.datasets) == ["sim1"]
    assert "S1.txt" in study.left_out["mq2008"]
    with pytest.raises(InputError, match="no data set is left"):
        plan(resolve({"datasets": ["mq2008"], "missing": "skip"}))


def test_the_mirror_is_enough(mirror: Path) -> None:
    study = plan(resolve({"datasets": ["mq2008"], "mirror": str(mirror)}))
    assert study.datasets["mq2008"].folds == ("fold1", "fold2", "fold3", "fold4", "fold5")
    assert study.datasets["mq2008"].options["reference"] == 37


def test_folds_of_the_configuration(mirror: Path) -> None:
    study = plan(resolve({"datasets": ["mq2008", "sim1"], "mirror": str(mirror), "folds": ["fold2"]}))
    assert study.datasets["mq2008"].folds == ("fold2",)
    assert study.datasets["sim1"].folds == ("fold1",)


@pytest.mark.parametrize(
    ("parts", "folds"), [(("train", "vali", "test"), 1), (("S1", "S2", "S3", "S4", "S5"), 5), (("all",), 5)]
)
def test_own_files(tmp_path: Path, parts: tuple[str, ...], folds: int) -> None:
    for part in parts:
        (tmp_path / f"{part} 'x' $(y).txt").write_text("1 qid:1 1:1\n")
    study = plan(resolve(letor(**{part: str(tmp_path / f"{part} 'x' $(y).txt") for part in parts})))
    assert len(study.datasets["mine"].folds) == folds


def test_own_files_may_lie_in_the_mirror(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n")
    with pytest.raises(InputError, match="no mirror is known"):
        plan(resolve(letor(all="mirror:a.txt")))
    study = plan(resolve(letor(all="mirror:a.txt") | {"mirror": str(tmp_path)}))
    assert study.datasets["mine"].files["all"] == str(tmp_path / "a.txt")


RUNS = {"kind": "runs", "runs": ["a.run"], "qrels": "qrels"}


@pytest.mark.parametrize(
    ("changed", "folds"),
    [
        ({}, 5),
        ({"folds": 3}, 3),
        ({"folds": "parts-S"}, 4),
        ({"folds": "parts-split"}, 1),
        ({"qrels": {"train": "qrels", "dev": "qrels", "test": "qrels"}}, 1),
    ],
)
def test_folds_of_runs(tmp_path: Path, changed: dict, folds: int) -> None:
    for name in ("a.run", "qrels"):
        (tmp_path / name).touch()
    (tmp_path / "parts-S").write_text("".join(f"q{i} S{i % 4 + 1}\n" for i in range(9)))
    (tmp_path / "parts-split").write_text("q1 train\nq2 vali\nq3 test\n")
    found = plan(resolve({"datasets": ["mine"], "own": {"mine": RUNS | changed}})).datasets["mine"]
    assert len(found.folds) == folds
    assert found.options.get("n_parts", 5) == (5 if isinstance(changed.get("folds"), str) else changed.get("folds", 5))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"folds": "nowhere"}, r"own\.mine\.folds: no such file"),
        ({"folds": "packed"}, r"own\.mine\.folds: not plain text"),
        ({"folds": 2}, r"own\.mine.*folds"),
        ({"qrels": {"train": "qrels", "dev": "qrels", "test": "qrels"}, "folds": 3}, "qrels has a split already"),
    ],
)
def test_folds_that_cannot_be(tmp_path: Path, changed: dict, said: str) -> None:
    for name in ("a.run", "qrels"):
        (tmp_path / name).touch()
    (tmp_path / "packed").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(InputError, match=said):
        plan(resolve({"datasets": ["mine"], "own": {"mine": RUNS | changed}}))


def test_vectors_that_the_data_have_are_taken(tmp_path: Path) -> None:
    for name in ("a.run", "qrels", "vectors"):
        (tmp_path / name).touch()
    own = {"mine": RUNS | {"vectors": "vectors"}, "other": RUNS}
    settings = resolve({"datasets": ["mine", "other"], "own": own, "queries": {"top": 7}})
    run = WorkflowRun(settings, plan(settings), tmp_path)
    mine, other = (run.query_options(SimpleNamespace(dataset=name)) for name in ("mine", "other"))
    assert (mine["pooling"], mine["query_columns"], mine["top"]) == ("none", True, 7)
    assert other == settings.queries.model_dump(exclude={"vectors"})


@pytest.mark.parametrize("section", [{"geng": {"datasets": ["sin1"]}}, {"learners": {"scales": {"sin1": "given"}}}])
def test_a_misspelt_data_set_in_another_section_is_found(section: dict) -> None:
    with pytest.raises(
        InputError, match=r"(geng.datasets|learners.scales): unknown data set 'sin1'\n.*did you mean sim1"
    ):
        plan(resolve({"datasets": ["sim1"]} | section))


def test_studies_with_four_independent_public_sets_have_an_average() -> None:
    Path("a.txt").touch()
    own = {f"set{i}": letor(all="a.txt")["own"]["mine"] for i in range(5)}
    names = ["sim1", "sim2", *own]
    four = own | {"set4": own["set4"] | {"queries_of": "set0"}}
    three = four | {"set3": own["set3"] | {"queries_of": "set0"}}
    for sets, averaged in ((four, True), (three, False)):
        settings = resolve({"datasets": names, "own": sets, "studies": ["geng"]})
        run = WorkflowRun(settings, plan(settings))
        assert run.averaged == ({"geng2008": "knn-online - single"} if averaged else {})
    assert run.queries_of(STUDIES["geng2008"])["set3"] == "set0"
    own["set4"]["queries_of"] = "set9"
    with pytest.raises(InputError, match=r"own.set4.queries_of: unknown data set 'set9'\n.*did you mean set"):
        plan(resolve({"datasets": names, "own": own}))


def test_what_shares_queries_in_the_table_names_a_data_set() -> None:
    forms = {name: entry.queries_of for name, entry in load().items() if entry.queries_of}
    assert forms
    assert set(forms.values()) <= set(load()) - set(forms)


def test_own_files_are_looked_for_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.txt").write_text("1 qid:1 1:1\n")
    found = plan(resolve(letor(all="a.txt")), [tmp_path / "elsewhere"])
    assert found.datasets["mine"].files["all"] == str(tmp_path / "elsewhere" / "a.txt")


def test_names_of_features_come_from_a_list_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 qid:1 1:1\n")
    (tmp_path / "names.txt").write_text("BM25\nclicks\n\n")
    values = letor(all="a.txt")
    for names in (["BM25", "clicks"], "names.txt"):
        values["own"]["mine"]["names"] = names
        assert plan(resolve(values)).datasets["mine"].options["names"] == ["BM25", "clicks"]
    values["own"]["mine"]["names"] = "nowhere.txt"
    with pytest.raises(InputError, match=r"own\.mine\.names: no such file"):
        plan(resolve(values))


@pytest.mark.parametrize(("workers", "shards"), [(1, 1), (2, 2), (16, 16), (500, 32)])
def test_shards_follow_the_cores(workers: int, shards: int, tmp_path: Path) -> None:
    settings = resolve({"datasets": ["sim1"]})
    assert shards_of(settings, plan(settings), workers, tmp_path / "shards") == shards


def test_folds_share_the_cores_and_none_is_divided_with_a_fold_for_each(tmp_path: Path) -> None:
    settings = resolve({"datasets": ["sim1", "sim2", "simweb"]})
    found = plan(settings)
    assert sum(len(dataset.folds) for dataset in found.datasets.values()) == 3
    assert [shards_of(settings, found, workers, tmp_path / "shards") for workers in (5, 6)] == [1, 4]


def test_shards_stay_what_they_were_and_what_was_asked_for(tmp_path: Path) -> None:
    settings, recorded = resolve({"datasets": ["sim1"]}), tmp_path / "shards"
    recorded.write_text("5\n")
    assert shards_of(settings, plan(settings), 16, recorded) == 5
    recorded.write_text("?")
    assert shards_of(settings, plan(settings), 16, recorded) == 16
    given = resolve({"datasets": ["sim1"], "training": {"shards": 3}})
    assert shards_of(given, plan(given), 16, recorded) == 3


def test_a_study_that_would_see_its_own_judgments_is_refused(mirror: Path) -> None:
    values = {"datasets": ["cranfield"], "mirror": str(mirror), "text": {"judged": True}}
    settings = resolve(values)
    with pytest.raises(InputError, match="judged and the study beyond do not go together on cranfield"):
        WorkflowRun(settings, plan(settings)).refuse_leaks()
    for change in ({"text": {"judged": False}}, {"beyond": {"datasets": []}}):
        settings = resolve(values | change)
        WorkflowRun(settings, plan(settings)).refuse_leaks()
