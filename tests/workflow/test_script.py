"""What a script is given: the files of a job, of each fold where it has several."""

from __future__ import annotations

import pytest

from qdrank.workflow.script import Job


def job_of(files: dict[str, object], out: dict[str, object], outputs: list[str], **wildcards: str) -> Job:
    return Job(files, [], out, outputs, {}, {"dataset": "data", **wildcards}, {}, print)


def test_a_job_of_several_folds_is_one_of_each() -> None:
    queries, offline = ([f"results/data/{fold}/{name}.parquet" for fold in ("fold1", "fold3")] for name in "qo")
    tables = [f"results/data/{fold}/{kind}.parquet" for kind in ("trees", "ridge") for fold in ("fold1", "fold3")]
    files = {"judged": "results/data/judged.parquet", "queries": queries, "tables": tables}
    first, third = job_of(files, {"offline": offline}, offline).folds
    assert (first.fold, third.fold) == ("fold1", "fold3")
    assert third.files["judged"] == files["judged"]
    assert third.files["queries"] == "results/data/fold3/q.parquet"
    assert third.files["tables"] == ["results/data/fold3/trees.parquet", "results/data/fold3/ridge.parquet"]
    assert third.out == {"offline": "results/data/fold3/o.parquet"}
    assert (first.path, third.path) == ("results/data/fold1/o.parquet", "results/data/fold3/o.parquet")


@pytest.mark.parametrize("storage", ["", ".snakemake/storage/fs/results/data/fold2/"])
def test_a_job_of_one_fold_is_itself(storage: str) -> None:
    path = f"{storage}results/data/fold1/o.parquet"
    (only,) = job_of({}, {"offline": [path]}, [path], fold="fold1").folds
    assert (only.fold, only.out, only.path) == ("fold1", {"offline": path}, path)
