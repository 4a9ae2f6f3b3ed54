"""Rules made of what studies declare: their steps, measures, claims, figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snakemake.io import temp

from qdrank.studies.study import Output, Step, Study
from qdrank.workflow.files import Files, reported_tables, rule_name, table_outputs
from qdrank.workflow.run import ALL_STUDIES, JobFolds, WorkflowRun, names_pattern, study_measures

_DATA = "results/{dataset}/"
_LARGE = "_large"
#: Shares of the texts of a collection: encoding is slow, and a run that goes on makes only those that are missing.
_LEAST_ENCODED = 8


@dataclass(frozen=True, kw_only=True)
class EmittedRule:
    """A rule that no rule file spells out; attributes are its parts as in a rule file, ``call`` among the params.

    ``memory`` and ``minutes`` are a base, and growth with each MB of input; ``study`` is the name of the one that declares it.
    """

    name: str
    study: str
    says: str
    input: Mapping[str, Any]
    output: Mapping[str, Any]
    params: Mapping[str, Any]
    constraints: Mapping[str, str]
    memory: tuple[float, float]
    minutes: tuple[float, float]
    threads: Any = 1
    priority: int = 0


def scattered(workflow: Any, run: WorkflowRun) -> dict[str, int]:
    """Numbers of shards by process, passed on to jobs on a cluster or on a core; ``--set-scatter`` wins.

    Where the work of a fold takes minutes, it is divided even if folds fill the cores, unless the configuration has a number.
    """
    numbers = {"local": run.shards}  # always there: the jobs take the number of shards from it
    for step in (step for study in ALL_STUDIES if run.datasets_of(study) for step in study.steps if step.shards):
        numbers[step.shards] = run.shards
        if step.least > 1:
            numbers[step.shards + _LARGE] = run.shards if run.settings.training.shards else max(run.shards, step.least)
    if run.encoded:
        numbers["encode"] = max(run.shards, _LEAST_ENCODED)
    resources = workflow.resource_settings
    resources.overwrite_scatter = {**numbers, **resources.overwrite_scatter}
    return numbers


def say(workflow: Any, name: str, words: str) -> None:
    """Give a rule its sentence; in a module its name has a prefix, and it may have been left out."""
    name = workflow.modifier.modify_rulename(name)
    if workflow.is_rule(name):
        workflow.get_rule(name).docstring = words


def emitted(files: Files, gather: Any) -> Iterator[EmittedRule]:
    """Rules of all studies of a run; ``gather`` is Snakemake's, which knows the shards of each process.

    A study that is run on no data set has none: rules that make nothing would cost planning time.
    """
    emitter = _Emitter(files, gather)
    for study in filter(files.run.datasets_of, ALL_STUDIES):
        yield from emitter.steps(study)
    for study in filter(files.run.datasets_of, ALL_STUDIES):
        yield from emitter.shown(study)


@dataclass(frozen=True)
class _Emitter:
    """Makes the rules of a study."""

    files: Files
    gather: Any

    @property
    def run(self) -> WorkflowRun:
        return self.files.run

    # ---- steps ----

    def steps(self, study: Study) -> Iterator[EmittedRule]:
        """The steps of a study; one that may take all folds of a data set is a rule for each number of folds."""
        for step in study.steps:
            chosen = step.done_on(self.run, self.run.datasets_of(study))
            alone = {step.name: JobFolds(("{fold}",), chosen)}
            grows = step.together == "small"
            for name, folds in (self.run.by_folds(step.name, chosen, grows=grows) if step.together else alone).items():
                yield self._step(study, step, name, folds)

    def _step(self, study: Study, step: Step, name: str, folds: JobFolds) -> EmittedRule:
        made = {key: folds.each(_DATA + path) for key, path in step.made(self.run).items()}
        names = {"dataset": folds.datasets, **step.wildcards}
        return EmittedRule(
            name=name,
            study=study.name,
            says=step.says,
            input={key: self._read(study, path, folds) for key, path in step.read(self.run).items()},
            output={key: temp(paths) if step.shards or key in step.passing else paths for key, paths in made.items()},
            params={"call": step.call, **step.params(self.run)},
            constraints={wildcard: names_pattern(known) for wildcard, known in names.items()},
            memory=step.memory,
            minutes=step.minutes(self.run) if callable(step.minutes) else step.minutes,
            threads=step.threads(self.run),
            priority=step.priority,
        )

    def _read(self, study: Study, path: Any, folds: JobFolds) -> Any:
        """Files of a step under one name: one, one of each fold, all shards, or what a function gives."""
        if callable(path):
            return path(self.files)
        if isinstance(path, list):
            return [_DATA + one.replace("{fold}", fold) for one in path for fold in folds.folds]
        whole = _DATA + path
        if "{scatteritem}" in path:
            return self._gathered(next(step for step in study.steps if path in step.made(self.run).values()), whole)
        return folds.each(whole)

    def _gathered(self, step: Step, pattern: str) -> Callable[[Any], list[str]]:
        def shards(job: Any) -> list[str]:
            large = step.least > 1 and not self.run.is_small(job.dataset)
            path = pattern.format(dataset=job.dataset, fold=job.fold, scatteritem="{scatteritem}")
            return list(getattr(self.gather, step.shards + _LARGE * large)(path))

        return shards

    # ---- what is shown of a study ----

    def shown(self, study: Study) -> Iterator[EmittedRule]:
        """Measures of a study's methods, its claims, figures and tables."""
        of_study: dict[str, Any] = {
            "study": study.name,
            "constraints": {"dataset": names_pattern(self.run.datasets_of(study))},
            "memory": (700, 7.5),
            "minutes": (15, 0),
        }
        yield self._measured(study, of_study | {"memory": (600, 2), "minutes": (30, 0.05)})
        yield self._decided(study, of_study)
        for figures in study.drawn_together:
            yield self._drawn(study, figures, of_study)
        for output in study.tables:
            yield self._tabulated(study, output, of_study | {"memory": (800, 7.5), "minutes": (30, 0.5)})

    def _measured(self, study: Study, common: Mapping[str, Any]) -> EmittedRule:
        methods = self.run.measured_in(study)
        return EmittedRule(
            name=f"measure_{study.short}",
            says=f"Measures of the methods of {study.paper}; a study waits for no method of another one.",
            input={
                "judged": f"{_DATA}judged.parquet",
                "scores": self.files.scores(methods),
                "refits": self.files.refits(methods),
            },
            output={"measures": f"{_DATA}{study.short}/measures.parquet"},
            params={
                "call": "qdrank.evaluation.measuring:write_measures",
                "measures": study_measures(study),
                **self.run.measured(methods),
            },
            **common,
        )

    def _decided(self, study: Study, common: Mapping[str, Any]) -> EmittedRule:
        assert study.observations
        return EmittedRule(
            name=f"claim_{study.short}",
            says=f"Verdicts on the claims of {study.paper}, and the values behind them.",
            input={**self.files.of_output(study, study.observations), "sources": self.files.sources},
            output={
                **table_outputs(study.observations.id, study.paper, "claims"),
                "observations": f"{_DATA}{study.short}/observations.parquet",
            },
            params={
                "call": "qdrank.studies.making:gather_observations",
                **self.files.shown(study.observations),
                "claims": study.claims,
                "budget": self.run.budget(study),
                "world": self.run.world_of,
            },
            **common,
        )

    def _drawn(self, study: Study, figures: Sequence[Output], common: Mapping[str, Any]) -> EmittedRule:
        return EmittedRule(
            name=f"draw_{rule_name(figures[0].id)}",
            says=f"{study.paper}: {'; '.join(one.shows[one.id] for one in figures)}.",
            input=self.files.of_output(study, figures[0]),
            output=self.files.reported_figures(study, figures),
            params={
                "call": "qdrank.studies.making:draw_figures",
                **self.files.drawn(figures),
                "dpi": self.run.settings.figures.dpi,
            },
            **common,
        )

    def _tabulated(self, study: Study, output: Output, common: Mapping[str, Any]) -> EmittedRule:
        return EmittedRule(
            name=f"tabulate_{rule_name(output.id)}",
            says=f"{study.paper}: {'; '.join(output.shows.values())}.",
            input=self.files.of_output(study, output),
            output=reported_tables(study, output),
            params={
                "call": "qdrank.studies.making:make_tables",
                **self.files.shown(output),
                "titles": {id_: output.title(id_) for id_ in output.shows},
            },
            priority=1,  # tables with intervals take longer than figures
            **common,
        )
