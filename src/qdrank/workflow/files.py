"""Names of the files that a run makes and reads, for the rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from snakemake.io import flag, is_flagged, local, report

from qdrank.rankers import DENSE
from qdrank.studies.study import QUERY_FILES, Output, Study
from qdrank.workflow.captions import CAPTIONS
from qdrank.workflow.run import ALL_STUDIES, WorkflowRun

TABLE_FORMS = ("parquet", "csv", "md", "tex")
#: Verdicts of all studies, the configuration behind them, and the page that shows them.
CLAIMS = [
    "results/config.yaml",
    "results/index.html",
    "results/claims.parquet",
    "results/claims.html",
    *(f"results/claims-overview.{form}" for form in ("html", "csv", "md")),
]

_PathsOfJob = Callable[[Any], list[str]]


def filled(pattern: str, **values: Iterable[str]) -> list[str]:
    """``pattern`` with every combination of the values, the last varying fastest."""
    return [pattern.format(**dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]


def passing_outputs(rules: Iterable[Any]) -> list[str]:
    """Shell patterns, below ``results``, of files that a run deletes when they have been used; storage may keep copies of them."""
    outputs = (output for rule in rules for output in rule.output if is_flagged(output, "temp"))
    return sorted({re.sub(r"\{[^}]*\}", "*", str(output)).partition("results/")[2] for output in outputs})


def query_files(folder: str, fold: str) -> dict[str, str]:
    """`QUERY_FILES` of a fold; ``folder`` is that of the data set."""
    return {name: f"{folder}/{path.format(fold=fold)}" for name, path in QUERY_FILES.items()}


def rule_name(id_: str) -> str:
    """An id of a figure or table as a name of a rule."""
    return id_.replace("-", "_")


def table_files(id_: str) -> dict[str, str]:
    """Files of a table: the numbers first, then its other forms, without the one that goes into the report."""
    return {form: f"results/{{dataset}}/tables/{id_}.{form}" for form in TABLE_FORMS}


def reported(id_: str, path: str, category: str, what: str) -> str:
    """A file that goes into the report, under ``category`` and the data set; the template finds its caption as a flag."""
    flagged = report(
        path, category=category, subcategory="{dataset}", caption="../report/output.rst", labels={"what": what}
    )
    whole: str = flag(flagged, "caption_text", CAPTIONS[id_])
    return whole


def table_outputs(id_: str, category: str, what: str, prefix: str = "") -> dict[str, str]:
    """Files of a table, their names in a rule beginning with ``prefix``; the html goes into the report."""
    path = f"results/{{dataset}}/tables/{id_}.html"
    files = {**table_files(id_), "html": reported(id_, path, category, what)}
    return {f"{prefix}{form}": path for form, path in files.items()}


def all_forms_of_table(id_: str, datasets: Iterable[str]) -> list[str]:
    """Every file of a table, requested by name, so that a deleted one is made again."""
    return filled(f"results/{{dataset}}/tables/{id_}.{{form}}", dataset=datasets, form=[*TABLE_FORMS, "html"])


def reported_tables(study: Study, output: Output) -> dict[str, str]:
    """Files of all tables that one job makes, named by place in the list and form."""
    return {
        name: path
        for place, (id_, what) in enumerate(output.shows.items())
        for name, path in table_outputs(id_, study.paper, what, f"t{place}_").items()
    }


@dataclass(frozen=True, eq=False)
class Files:
    """Names of files that depend on the data sets, folds and settings of a run."""

    run: WorkflowRun

    # ---- every fold, every data set ----

    def each_fold(self, pattern: str, **wildcards: Iterable[str]) -> _PathsOfJob:
        """Paths of ``pattern`` for every fold of the data set of a job."""
        return lambda job: filled(pattern, dataset=[job.dataset], fold=self.run.folds(job), **wildcards)

    def scores(self, methods: Callable[[Any], Iterable[str]]) -> _PathsOfJob:
        """Scores of the ``methods`` of the data set of a job, for every fold."""
        pattern = "results/{dataset}/{fold}/scores/{method}.parquet"
        return lambda job: self.each_fold(pattern, method=methods(job))(job)

    def refits(self, methods: Callable[[Any], Iterable[str]]) -> _PathsOfJob:
        """Scores of the further fits of those ``methods`` that are fitted several times, for every fold."""
        pattern = "results/{dataset}/{fold}/refits/{method}.parquet"
        return lambda job: self.each_fold(pattern, method=self.run.refitted(methods(job)))(job)

    def first_fold(self, pattern: str) -> _PathsOfJob:
        """Path of ``pattern`` for the first fold of the data set of a job."""
        return lambda job: filled(pattern, dataset=[job.dataset], fold=self.run.folds(job)[:1])

    def each_dataset(self, pattern: str, **wildcards: Iterable[str]) -> list[str]:
        """Paths of ``pattern`` for every data set of the run."""
        return filled(pattern, dataset=self.run.planned.datasets, **wildcards)

    def each_dataset_and_fold(self, patterns: Iterable[str], names: Iterable[str] | None = None) -> list[str]:
        """Paths of ``patterns`` for every fold of every data set, or of those named."""
        datasets = self.run.planned.datasets
        chosen = list(datasets if names is None else names)
        return [
            pattern.format(dataset=name, fold=fold)
            for pattern in patterns
            for name in chosen
            for fold in datasets[name].folds
        ]

    # ---- what data sets and learners are made from ----

    def features(self, wildcards: Any) -> str | list[str]:
        """Files that hold the features: the list of what was fetched, or the user's own, which are in no storage."""
        dataset = self.run.dataset(wildcards)
        if dataset.registered:
            return f"resources/downloads/{dataset.name}.json"
        return [local(path) for path in (*dataset.files.values(), *filter(None, [dataset.source_file]))]

    def collection(self, wildcards: Any) -> str | list[str]:
        """Files of a text collection: the list of what was fetched, or all files in the user's folder."""
        dataset = self.run.dataset(wildcards)
        if dataset.registered or dataset.files:
            return self.features(wildcards)
        if dataset.options["like"] == "irds":  # the digests of its files are fixed
            return []
        paths = sorted(str(path) for path in Path(dataset.options["folder"]).rglob("*") if path.is_file())
        return [local(path) for path in (*paths, *filter(None, [dataset.source_file]))]

    def sources(self, wildcards: Any) -> list[str]:
        """What says of which source each query is, where folds go by it."""
        by_source = "sources" in self.run.dataset(wildcards).options
        return [f"results/{wildcards.dataset}/topics.parquet"] if by_source else []

    def collection_of_text(self, wildcards: Any) -> str | list[str]:
        """The same, for jobs that take any data: nothing where they are no raw text."""
        return self.collection(wildcards) if self.run.dataset(wildcards).kind == "text" else []

    def searched(self, wildcards: Any) -> str | list[str]:
        """The same, for jobs that search text: nothing for a simulated web, which is drawn again."""
        return [] if wildcards.dataset in self.run.simulated_webs else self.collection(wildcards)

    def vectors(self, wildcards: Any) -> str | list[str]:
        """Vectors of a collection's texts; nothing where none are encoded."""
        name = wildcards.dataset
        return f"results/{name}/vectors.parquet" if name in self.run.encoded else []

    @property
    def encoder(self) -> list[str]:
        """Files of the encoder: the list of what was fetched, or all that are in the user's folder."""
        planned = self.run.planned
        if planned.encoders:
            return [f"resources/downloads/{name}.json" for name in planned.encoders]
        inside = Path(planned.encoder["folder"]).rglob("*") if planned.encoder else ()
        return [local(str(path)) for path in sorted(inside) if path.is_file()]

    def of_learner(self, wildcards: Any) -> dict[str, str]:
        """What a classic method learns from."""
        method, folder = self.run.classic[wildcards.method], f"results/{wildcards.dataset}"
        files = {"judged": f"{folder}/{'ranks' if method.aggregates else 'judged'}.parquet"}
        return files | (query_files(folder, wildcards.fold) if method.query_vectors else {})

    # ---- figures ----

    def of_figure(self, id_: str) -> dict[str, str]:
        """Files of a figure: the numbers behind it and the pictures, without the svg for the report."""
        forms = ["parquet", *(form for form in self.run.settings.figures.formats if form != "svg")]
        return {form: f"results/{{dataset}}/figures/{id_}.{form}" for form in forms}

    def figure_outputs(self, id_: str, category: str, what: str) -> dict[str, str]:
        """Files of any figure; the svg goes into the report."""
        path = f"results/{{dataset}}/figures/{id_}.svg"
        return {**self.of_figure(id_), "svg": reported(id_, path, category, what)}

    def reported_figures(self, study: Study, figures: Iterable[Output]) -> dict[str, str]:
        """Files of all figures that one job draws, named by place in the list and form; each svg goes into the report."""
        return {
            f"f{place}_{form}": path
            for place, figure in enumerate(figures)
            for form, path in self.figure_outputs(figure.id, study.paper, figure.shows[figure.id]).items()
        }

    def all_forms_of_figure(self, id_: str, datasets: Iterable[str]) -> list[str]:
        """Every file of a figure, requested by name, so that a deleted one is made again."""
        # The svg is always made: it goes into the report.
        forms = dict.fromkeys(["parquet", "svg", *self.run.settings.figures.formats])
        return filled(f"results/{{dataset}}/figures/{id_}.{{form}}", dataset=datasets, form=forms)

    # ---- what a study declares ----

    def of_output(self, study: Study, output: Output) -> dict[str, str | _PathsOfJob]:
        """Files that a figure, table or observations is made from; those named after a method only if it is run."""
        idle = {method.name for method in study.methods} - {*self.run.methods_run(study)}
        return {
            name: self._if_searched(path) if name in output.searched_only else self._declared(path)
            for name, path in output.reads.items()
            if name not in idle
        }

    def _if_searched(self, path: str) -> _PathsOfJob:
        """Paths of all folds for text that is searched, none for other data."""
        of_folds = self.each_fold(f"results/{{dataset}}/{path}")
        return lambda job: of_folds(job) if self.run.is_searched(job.dataset) else []

    def _declared(self, path: str) -> str | _PathsOfJob:
        """One path, that of the first fold, or those of all folds."""
        whole = f"results/{{dataset}}/{path}"
        if "{first}" in path:
            return self.first_fold(whole.replace("{first}", "{fold}"))
        return self.each_fold(whole) if "{fold}" in path else whole

    def shown(self, output: Output) -> dict[str, Any]:
        """Params of a job that makes a figure, tables or observations."""
        return {
            "make": output.make,
            # What only searched text has is retrieved from the whole collection, not from candidates.
            "title": self.run.collection_title if output.of_search else self.run.title,
            "folds": self.run.folds,
            "interval": self.run.interval,
            "options": {key.rpartition(".")[2]: self.run.option(key) for key in output.options},
        }

    def drawn(self, figures: Iterable[Output]) -> dict[str, Any]:
        """Params of a job that draws several figures from the same files, with the options of all of them."""
        several = [self.shown(figure) for figure in figures]
        common = {name: value for name, value in several[0].items() if name != "make"}
        options = {key: value for shown in several for key, value in shown["options"].items()}
        return {**common, "options": options, "makes": [shown["make"] for shown in several]}

    def by_id(self, study: Study) -> dict[str, list[str]]:
        """Files of every figure and table of a study, its claims included, by id."""
        datasets = self.run.datasets_of(study)
        searched = [name for name in datasets if self.run.is_searched(name)]
        tables = (output for output in (*study.tables, study.observations) if output)
        return {
            id_: of_kind(id_, searched if output.of_search else datasets)
            for of_kind, outputs in ((self.all_forms_of_figure, study.figures), (all_forms_of_table, tables))
            for output in outputs
            for id_ in output.shows
        }

    def whole_study(self, study: Study) -> list[str]:
        """Everything that a study makes."""
        return self.tables_and_figures(study) + [path for files in self.of_steps(study) for path in files]

    def of_steps(self, study: Study) -> Iterator[list[str]]:
        """Files that each job of a study's steps makes and keeps; of a job that has several folds, those of each fold."""
        run = self.run
        for step in study.steps:
            kept = [path for name, path in step.made(run).items() if name not in step.passing]
            named = [dict(zip(step.wildcards, chosen, strict=True)) for chosen in product(*step.wildcards.values())]
            for dataset in () if step.shards else step.done_on(run, run.datasets_of(study)):
                for fold in run.planned.datasets[dataset].folds if "{fold}" in kept[0] else [""]:
                    for values in named:
                        yield [f"results/{dataset}/{path.format(fold=fold, **values)}" for path in kept]

    def tables_and_figures(self, study: Study) -> list[str]:
        """Tables and figures of a study, in all their forms."""
        return [path for files in self.by_id(study).values() for path in files]

    def everything(self) -> list[str]:
        """Every file that the run keeps, besides the tables and figures that belong to no study.

        For the manifest where jobs see only what they are given; elsewhere it looks into the folder.
        """
        run, datasets = self.run, self.run.planned.datasets
        shared = ("judged", "columns", "topics", "features", "measures")
        paths = self.each_dataset("results/{dataset}/{name}.parquet", name=shared)
        paths += filled("results/{dataset}/ranks.parquet", dataset=run.planned.of_kind("agg"))
        names = ("queries", "scale", "metric", "neighbours")
        of_folds = [f"results/{{dataset}}/{{fold}}/{name}.parquet" for name in names]
        paths += self.each_dataset_and_fold(of_folds)
        paths += [f"results/{name}/vectors.parquet" for name in run.encoded]
        stages = ["results/{dataset}/{fold}/first_stages.parquet"]
        paths += self.each_dataset_and_fold(stages, run.planned.of_kind("text")) + self.rankers()
        for name in datasets:
            methods = run.methods_of(name)
            classic = [method for method in methods if method in run.classic]
            made = {"scores": methods, "refits": run.refitted(methods), "choices": classic, "models": classic}
            patterns = [f"results/{{dataset}}/{{fold}}/{kind}/{one}.parquet" for kind in made for one in made[kind]]
            paths += self.each_dataset_and_fold(patterns, [name])
        for study in ALL_STUDIES:
            paths += self.whole_study(study)
            for name in run.datasets_of(study):
                paths += [f"results/{name}/{study.short}/{kind}.parquet" for kind in ("measures", "observations")]
        return list(dict.fromkeys(paths))

    def of_each_job(self, study: Study) -> list[str]:
        """One file of each job whose files `whole_study` has, and all models, which `qdrank rank` reads."""
        figures = (together[0] for together in study.drawn_together)
        first = {output.id for output in (*figures, *study.tables, study.observations) if output}
        outputs = [path for id_, files in self.by_id(study).items() if id_ in first for path in files]
        numbers = [path for path in outputs if path.endswith(".parquet")]
        return numbers + [
            path for files in self.of_steps(study) for path in files if path == files[0] or "/models/" in path
        ]

    def rankers(self) -> list[str]:
        """Every method of every data set, for `qdrank rank`; but what an encoder finds."""
        pattern, paths = "results/{dataset}/{fold}/served/{method}.parquet", list[str]()
        for name, dataset in self.run.planned.datasets.items():
            methods = [method for method in self.run.methods_of(name) if method != DENSE]
            paths += filled(pattern, dataset=[name], fold=dataset.folds, method=methods)
        return paths

    def study_targets(self) -> Mapping[str, tuple[str, _PathsOfJob]]:
        """What it is in words, and its files, by the name of the target: each figure and table, and each study by both its names.

        As functions: a run asks for few of them.
        """
        targets: dict[str, tuple[str, _PathsOfJob]] = {}
        for study in ALL_STUDIES:
            for output in filter(None, (*study.figures, *study.tables, study.observations)):
                for id_, what in output.shows.items():
                    targets[rule_name(id_)] = f"Target: {study.paper}, {what}.", self._of_id(study, id_)
            whole = f"Target: everything of {study.paper}.", self._of_study(study)
            targets |= dict.fromkeys((study.name, study.short), whole)
        return targets

    def _of_id(self, study: Study, id_: str) -> _PathsOfJob:
        return lambda _: self.by_id(study)[id_]

    def _of_study(self, study: Study) -> _PathsOfJob:
        return lambda _: self.whole_study(study)
