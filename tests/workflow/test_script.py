"""What a job's function is given: files, params and wildcards, once for each fold where the job has several."""

from collections.abc import Callable
from typing import Any

import pytest

from qdrank.workflow import script
from qdrank.workflow.script import Job, do


def job_of(files: dict[str, Any], out: dict[str, Any], outputs: list[str], **wildcards: str) -> Job:
    params = {"call": "library:work", "arguments": {"drawn": 3}, "looked_up": ["ap"], "seed": 1}
    return Job(files, [], out, outputs, params, {"dataset": "data", **wildcards}, {}, print)


def calling(monkeypatch: pytest.MonkeyPatch, work: Callable[..., None]) -> None:
    monkeypatch.setattr(script, "loaded", {"library:work": work}.__getitem__)


def test_a_job_of_several_folds_is_one_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []
    calling(
        monkeypatch,
        lambda files, out, path, fold, seed, drawn: calls.append(
            {"files": files, "out": out, "path": path, "fold": fold, "given": (seed, drawn)}
        ),
    )
    queries, offline = ([f"results/data/{fold}/{name}.parquet" for fold in ("fold1", "fold3")] for name in "qo")
    tables = [f"results/data/{fold}/{kind}.parquet" for kind in ("trees", "ridge") for fold in ("fold1", "fold3")]
    judged = "results/data/judged.parquet"
    do(job_of({"judged": judged, "queries": queries, "tables": tables}, {"offline": offline}, offline))
    first, third = calls
    assert (first["fold"], first["path"], first["given"]) == ("fold1", "results/data/fold1/o.parquet", (1, 3))
    assert third == {
        "files": {
            "judged": judged,
            "queries": "results/data/fold3/q.parquet",
            "tables": ["results/data/fold3/trees.parquet", "results/data/fold3/ridge.parquet"],
        },
        "out": {"offline": "results/data/fold3/o.parquet"},
        "path": "results/data/fold3/o.parquet",
        "fold": "fold3",
        "given": (1, 3),
    }


@pytest.mark.parametrize("storage", ["", ".snakemake/storage/fs/results/data/fold2/"])
def test_a_job_of_one_fold_is_itself(storage: str) -> None:
    path = f"{storage}results/data/fold1/o.parquet"
    (only,) = job_of({}, {"offline": [path]}, [path], fold="fold1").folds
    assert (only.wildcards["fold"], only.out, only.outputs) == ("fold1", {"offline": path}, [path])


def test_a_function_gets_wildcards_and_its_shard_and_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    calling(monkeypatch, lambda method, shard, **params: calls.append((method, shard, params)))
    do(job_of({}, {}, ["a", "b"], fold="fold1", method="m", scatteritem="2-of-3"))
    assert calls == [("m", (1, 3), {"seed": 1, "drawn": 3})]


def test_a_failure_names_the_function_and_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(**params: Any) -> None:
        raise ValueError(str(params))

    calling(monkeypatch, work)
    with pytest.raises(ValueError, match="seed") as failure:
        do(job_of({}, {}, ["results/data/a.parquet"]))
    assert failure.value.__notes__ == ["in library:work, for results/data/a.parquet"]
