"""What a study computes, as data: the workflow makes a rule of each step, divides its work into jobs, and runs its function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_Paths = Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Step:
    """Work on a fold, or on a data set.

    ``run``, an argument of some functions below, is the `qdrank.workflow.run.WorkflowRun`.

    Attributes
    ----------
    name : of its rule
    says : what it does, in a sentence
    call : "module:function" that does it: with ``files``, ``out``, ``path``, ``fold``, ``shard``, ``log`` and wildcards, as far as
        it takes them, and with ``params``
    reads, makes : name to path below ``results/{dataset}``, also as a function of the run. ``{fold}`` is the fold of the job,
        ``{scatteritem}`` a shard; in ``reads`` it stands for all shards of the step that makes them, and a name may have a list of
        paths. Other files that it reads are a function of `qdrank.workflow.files.Files` that gives Snakemake's input function
    params : from the run to further arguments; one may be a function of the job's wildcards
    datasets : from the run to the data sets it is done on, among those of the study; all if None
    wildcards : further wildcards of its paths, and their values
    memory, minutes : base, and growth with each MB of input; ``minutes`` may be a function of the run
    threads : from the run to threads, or to a function of the wildcards
    priority : of its jobs; what others wait for goes first
    together : whether one job takes all folds of a data set: "always", of "small" data sets alone, or never
    shards : name of the process among whose shards its work is divided
    least : shards of data sets that are not known to be small, even where folds fill the cores
    passing : names in ``makes`` of files that are deleted when they have been used, as shards are
    """

    name: str
    says: str
    call: str
    reads: _Paths
    makes: _Paths
    params: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    datasets: Callable[[Any, Collection[str]], Iterable[str]] | None = None
    wildcards: Mapping[str, Iterable[str]] = field(default_factory=dict)
    memory: tuple[float, float] = (800, 3.5)
    minutes: tuple[float, float] | Callable[[Any], tuple[float, float]] = (60, 0.5)
    threads: Callable[[Any], Any] = lambda _: 1
    priority: int = 0
    together: str = ""
    shards: str = ""
    least: int = 1
    passing: Collection[str] = ()

    def read(self, run: Any) -> Mapping[str, Any]:
        """What it reads in a run."""
        return self.reads(run) if callable(self.reads) else self.reads

    def made(self, run: Any) -> Mapping[str, Any]:
        """What it makes in a run."""
        return self.makes(run) if callable(self.makes) else self.makes

    def done_on(self, run: Any, datasets: Collection[str]) -> list[str]:
        """Those of the data sets of its study on which it is done."""
        return list(datasets if self.datasets is None else self.datasets(run, datasets))


def scores_and_rankers(methods: Collection[str]) -> dict[str, str]:
    """What a step makes that scores the test documents by several methods, and stores these for `qdrank rank`."""
    made = {"": "scores", "served_": "served"}
    return {f"{of}{method}": f"{{fold}}/{folder}/{method}.parquet" for of, folder in made.items() for method in methods}


def further_fits(methods: Iterable[str]) -> dict[str, str]:
    """What a step makes that fits some methods several times: scores of the test documents by the further fits."""
    return {f"refits_{method}": f"{{fold}}/refits/{method}.parquet" for method in methods}


#: Vectors of the queries of a fold, and how queries became vectors.
QUERY_FILES = {
    **{name: f"{name}.parquet" for name in ("columns", "topics")},
    **{name: f"{{fold}}/{name}.parquet" for name in ("queries", "scale")},
}
