"""Steps as rules: how work is divided into jobs, what a job reads and makes, and what is deleted."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.io import is_flagged

from qdrank.studies import STUDIES
from qdrank.studies.study import Step
from qdrank.workflow import emitting
from qdrank.workflow.config_files import resolve
from qdrank.workflow.emitting import EmittedRule, emitted, scattered
from qdrank.workflow.files import Files
from qdrank.workflow.plan import plan
from qdrank.workflow.run import WorkflowRun

FIVE = tuple(f"fold{i}" for i in range(1, 6))
SHARD = "{fold}/toy/{scatteritem}.parquet"


def step(name: str, **declared: Any) -> Step:
    whole = {"says": "It does.", "call": "a:b", "reads": {"judged": "judged.parquet"}, "makes": {"made": "{fold}/a"}}
    return Step(name=name, **{**whole, **declared})


WORK = step("work", makes={"shard": SHARD}, shards="toy", least=3)
JOIN = step("join", reads={"shards": SHARD})


def run_of(shards: int, **config: Any) -> WorkflowRun:
    """A run on a data set known to be small, and on one of which nothing is known, of five folds each."""
    settings = resolve({"datasets": ["sim1"], "studies": ["geng"], **config})
    sim1 = replace(plan(settings).datasets["sim1"], folds=FIVE)
    sized = {"few": replace(sim1, name="few", n_queries=1000), "many": replace(sim1, name="many", n_queries=None)}
    return WorkflowRun(settings, SimpleNamespace(datasets=sized, of_kind=lambda *_: [], encoder={}), shards=shards)


def declare(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> None:
    monkeypatch.setattr(emitting, "ALL_STUDIES", [replace(STUDIES["geng2008"], steps=steps)])


def rules(run: WorkflowRun, numbers: dict[str, int] | None = None) -> dict[str, EmittedRule]:
    gather = SimpleNamespace(
        **{
            name: lambda path, n=n: [path.replace("{scatteritem}", f"{i + 1}-of-{n}") for i in range(n)]
            for name, n in (numbers or {}).items()
        }
    )
    return {rule.name: rule for rule in emitted(Files(run), gather)}


def on(dataset: str) -> SimpleNamespace:
    return SimpleNamespace(dataset=dataset, fold="fold2")


@pytest.mark.parametrize(
    ("shards", "config", "few", "many"),
    [(1, {}, 1, 3), (4, {}, 4, 4), (1, {"training": {"shards": 1}}, 1, 1)],
    ids=["folds fill the cores", "more cores than folds", "as the configuration says"],
)
def test_work_is_divided_further_where_data_are_not_known_to_be_small(monkeypatch, shards, config, few, many):
    declare(monkeypatch, WORK, JOIN)
    run = run_of(shards, **config)
    resources = SimpleNamespace(overwrite_scatter={"other": 5})
    numbers = scattered(SimpleNamespace(resource_settings=resources), run)
    assert resources.overwrite_scatter == {**numbers, "other": 5}
    made = rules(run, numbers)
    shard = made["work"].output["shard"]
    assert shard == f"results/{{dataset}}/{SHARD}"
    assert is_flagged(shard, "temp")
    reads = made["join"].input["shards"]
    for dataset, n in (("few", few), ("many", many)):
        assert reads(on(dataset)) == [f"results/{dataset}/fold2/toy/{i + 1}-of-{n}.parquet" for i in range(n)]


def test_numbers_of_shards_that_were_typed_win(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, WORK, JOIN)
    resources = SimpleNamespace(overwrite_scatter={"toy": 7})
    scattered(SimpleNamespace(resource_settings=resources), run_of(1))
    assert resources.overwrite_scatter == {"local": 1, "toy": 7, "toy_large": 3}


@pytest.mark.parametrize(
    ("together", "shards", "datasets"),
    [
        ("", 1, {"do": ["few", "many"]}),
        ("small", 1, {"do_5_folds": ["few"], "do": ["many"]}),
        ("always", 1, {"do": ["few", "many"]}),
        ("small", 2, {"do": ["few", "many"]}),
    ],
)
def test_one_job_takes_all_folds_where_each_is_short(monkeypatch, together, shards, datasets):
    declare(monkeypatch, step("do", reads={"q": "{fold}/q", "t": ["{fold}/t"], "c": "c"}, together=together))
    made = {name: rule for name, rule in rules(run_of(shards)).items() if name.startswith("do")}
    assert {name: rule.constraints["dataset"].split("|") for name, rule in made.items()} == datasets
    for name, rule in made.items():
        whole = shards == 1 and (together == "always" or name != "do")
        folds: Sequence[str] = FIVE if whole else ["{fold}"]
        paths = {key: [f"results/{{dataset}}/{fold}/{key}" for fold in folds] for key in "qta"}
        assert rule.output == {"made": paths["a"] if whole else paths["a"][0]}
        assert rule.input == {"q": paths["q"] if whole else paths["q"][0], "t": paths["t"], "c": "results/{dataset}/c"}


def test_a_step_says_what_it_needs_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(
        monkeypatch,
        step(
            "do",
            reads=lambda run: {"text": lambda files: files.first_fold(f"{{dataset}}/{run.shards}/{{fold}}")},
            makes={"kept": "{fold}/{job}/kept", "on_its_way": "{fold}/{job}/passing"},
            params=lambda run: {"seed": run.settings.seed, "name": lambda wildcards: wildcards.dataset},
            datasets=lambda run, names: [name for name in names if run.is_small(name)],
            wildcards={"job": ["a.b", "c"]},
            minutes=lambda run: (run.shards, 2),
            threads=lambda run: run.shards,
            passing=["on_its_way"],
        ),
    )
    rule = rules(run_of(3))["do"]
    assert rule.input["text"](on("few")) == ["few/3/fold1"]
    assert {name: is_flagged(path, "temp") for name, path in rule.output.items()} == {"kept": False, "on_its_way": True}
    assert rule.constraints == {"dataset": "few", "job": r"a\.b|c"}
    assert rule.params | {"name": None} == {"call": "a:b", "seed": 1, "name": None}
    assert (rule.minutes, rule.threads) == ((3, 2), 3)
