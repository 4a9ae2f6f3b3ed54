"""Which data sets, methods and measures a run has, and which parts of a study run on which data set."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from qdrank.errors import InputError
from qdrank.evaluation.declared import Rules
from qdrank.measures import CONVENTIONS, NDCG_IN_WORDS, SHORT_IS_ZERO
from qdrank.project import PROJECT
from qdrank.queries.sizes import largest_used
from qdrank.rankers import DENSE, FIRST_STAGES, REFERENCE
from qdrank.rankers.methods import CLASSIC, ClassicMethod
from qdrank.registry import own_source
from qdrank.sections import StudySection
from qdrank.studies import STUDIES
from qdrank.studies.study import Study
from qdrank.workflow.config import Settings
from qdrank.workflow.plan import Plan, PlannedDataset
from qdrank.workflow.provenance import described_file
from qdrank.workflow.recorded import typed_values

#: Queries of a data set up to which a job that grows with the data takes seconds a fold.
FEW_QUERIES = 1000
#: Threads of a job that grows boosted trees on larger data.
_TREE_THREADS = 4
ALL_STUDIES: list[Study] = [STUDIES[name] for name in STUDIES]


@dataclass(frozen=True)
class JobFolds:
    """Folds of which one job does the work, ``{fold}`` for any one, and the data sets with these folds."""

    folds: tuple[str, ...]
    datasets: list[str]

    def each(self, pattern: str) -> str | list[str]:
        """The path of ``pattern``, or if there are several folds that of each."""
        paths = [pattern.replace("{fold}", fold) for fold in self.folds]
        return paths[0] if len(set(paths)) == 1 else paths


@dataclass(frozen=True, eq=False)
class WorkflowRun:
    """A run of the workflow.

    Attributes
    ----------
    settings : the configuration, checked
    planned : the data sets that it stands for
    config_files : configuration files that were given, as seen from the folder of the run
    values : parts of the configuration that were given on the command line, with ``--config``
    started_in : folder in which the command was typed, as seen from the folder of the run
    shards : jobs among which the work of a fold is divided
    cores : of this machine, that the run may use; None on a cluster
    """

    settings: Settings
    planned: Plan
    config_files: Sequence[str] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    started_in: str = "."
    shards: int = 1
    cores: int | None = None

    # ---- params that many rules share ----

    @property
    def training(self) -> dict[str, Any]:
        """How the features are scaled for training, and when it stops."""
        shared: dict[str, Any] = self.settings.training.model_dump(include={"scale", "tol"})
        return shared

    @property
    def interval(self) -> dict[str, Any]:
        """Level, resamples and seed of intervals."""
        evaluation = self.settings.evaluation
        return {"level": evaluation.confidence, "resamples": evaluation.resamples, "seed": self.settings.seed}

    @property
    def configuration(self) -> str:
        """Names of the configuration files, and values given beside them, for the tables that say what made them.

        The choice of studies is left out: it changes no table.
        """
        files = [Path(file).name for file in self.config_files] or ["config.yaml"]
        return ", ".join(files + typed_values({key: self.values[key] for key in self.values if key != "studies"}))

    def option(self, key: str) -> Any:
        """Value of a key of the configuration, such as ``training.tol``."""
        value: Any = self.settings
        for step in key.split("."):
            value = getattr(value, step)
        return value

    def by_folds(self, rule: str, datasets: Iterable[str] | None = None, *, grows: bool = False) -> dict[str, JobFolds]:
        """Folds that each job of a rule takes on these data sets (all if None), by the name of the rule.

        Where folds are not divided, a short job takes all folds of a data set: a job of each would spend its time on
        starting. Else ``{fold}`` stands for any one. Data sets of as many folds have the same rule. A job that
        ``grows`` is short on small data sets alone.
        """
        alike: dict[tuple[str, ...], list[str]] = {}
        for name in self.planned.datasets if datasets is None else datasets:
            dataset = self.planned.datasets[name]
            together = self.shards == 1 and len(dataset.folds) > 1 and (self.is_small(name) or not grows)
            alike.setdefault(dataset.folds if together else ("{fold}",), []).append(name)
        return {
            f"{rule}_{len(folds)}_folds" if len(alike) > 1 and len(folds) > 1 else rule: JobFolds(folds, members)
            for folds, members in alike.items()
        }

    # ---- data sets ----

    def dataset(self, wildcards: Any) -> PlannedDataset:
        """The data set of a job."""
        return self.planned.datasets[wildcards.dataset]

    def title(self, wildcards: Any) -> str:
        """Title of the data set of a job; for text with the number of candidates, on which every figure depends."""
        dataset = self.dataset(wildcards)
        depth = f", {self.settings.text.candidates} candidates" if dataset.kind == "text" else ""
        return dataset.title + depth

    def collection_title(self, wildcards: Any) -> str:
        """Title of the data set of a job that has no candidates."""
        return self.dataset(wildcards).title

    def text_source(self, name: str) -> dict[str, Any]:
        """Arguments of `qdrank.datasets.collections.forms.read_collection`; none where a data set is no raw text."""
        dataset = self.planned.datasets[name]
        return dict(dataset.options) if dataset.kind == "text" else {}

    def is_small(self, name: str) -> bool:
        """Whether a data set is known to have few queries, so that what may be long elsewhere is short."""
        return (self.planned.datasets[name].n_queries or FEW_QUERIES + 1) <= FEW_QUERIES

    def folds(self, wildcards: Any) -> list[str]:
        """Folds of the data set of a job."""
        return list(self.dataset(wildcards).folds)

    def world(self, name: str) -> str:
        """What a simulated data set is; empty for real data."""
        dataset = self.planned.datasets[name]
        return dataset.title if dataset.kind == "simulated" else ""

    def world_of(self, wildcards: Any) -> str:
        """What the data set of a job is, if it is simulated."""
        return self.world(wildcards.dataset)

    def is_searched(self, name: str) -> bool:
        """Whether studies retrieve documents from the text of a data set: raw text, or a simulated web."""
        known = self.planned.datasets[name].kind == "text" or name in self.simulated_webs
        return known and self.settings.text.searched

    def searched(self, name: str) -> dict[str, Any]:
        """Text of a data set to search: how it is drawn, or the arguments of `qdrank.datasets.collections.forms.read_collection`."""
        if name in self.simulated_webs:
            return {"like": "simweb", "draw": self.draw(name)}
        return dict(self.planned.datasets[name].options)

    def draw(self, name: str) -> dict[str, Any]:
        """Seed and settings of a simulated web."""
        return {key: value for key, value in self.planned.datasets[name].options.items() if key != "like"}

    def searched_text(self, name: str) -> dict[str, Any]:
        """Section ``text`` for a data set that is searched; a simulated web has a split of its own."""
        drawn = {"folds": "split"} if name in self.simulated_webs else {}
        return self.settings.text.model_dump() | drawn

    @cached_property
    def simulated_webs(self) -> list[str]:
        """Simulated data sets that are made of text; changes to how they are made do not affect the others."""
        simulated = self.planned.of_kind("simulated")
        return [name for name in simulated if self.planned.datasets[name].options.get("like", name) == "simweb"]

    @cached_property
    def encoded(self) -> list[str]:
        """Data sets whose texts are encoded: all raw text, where the configuration names an encoder."""
        return self.planned.of_kind("text") if self.planned.encoder else []

    @property
    def vectors_read(self) -> dict[str, str]:
        """The artifact ``vectors``, where features or query vectors of text are made of it."""
        wanted = "dense" in self.settings.text.features or self.settings.queries.vectors == "dense"
        return {"vectors": "results/{dataset}/vectors.parquet"} if wanted else {}

    # ---- classic learners and aggregators ----

    def learners_of(self, dataset: str) -> list[str]:
        """Classic methods that are run on a data set: aggregators on rankings, learners on features."""
        wanted, chosen = self.settings.learners.datasets, self.settings.learners.methods
        if dataset not in self.planned.datasets or (wanted is not None and dataset not in wanted):
            return []
        aggregates = self.planned.datasets[dataset].kind == "agg"
        names = [*(CLASSIC if chosen is None else chosen), *self.planned.learners]
        return [name for name in names if self.classic[name].aggregates == aggregates]

    @cached_property
    def classic(self) -> dict[str, ClassicMethod]:
        """The classic methods, and the user's own learners."""
        own = {name: ClassicMethod(target, name) for name, target in self.planned.learners.items()}
        return CLASSIC | own

    def own_code(self, wildcards: Any) -> list[str]:
        """Digest of the code of the user's own learner, and modules of ours that it imports; nothing for other methods."""
        target = self.planned.learners.get(wildcards.method)
        return [] if target is None else described_file(own_source(target)[0])

    @cached_property
    def learner_datasets(self) -> list[str]:
        """Data sets on which classic methods are run."""
        return [name for name in self.planned.datasets if self.learners_of(name)]

    @cached_property
    def published_datasets(self) -> list[str]:
        """Those of them for which figures have been published."""
        expected = PROJECT / "resources" / "expected"
        return [name for name in self.learner_datasets if (expected / f"{name}.yaml").exists()]

    def learner_convention(self, dataset: str) -> str:
        """Convention of the learners' tables of a data set."""
        first: str = self.settings.evaluation.conventions[0]
        named: Mapping[str, str] = self.settings.learners.conventions
        return named.get(dataset, first)

    @property
    def ndcg_convention(self) -> str:
        """Convention of NDCG@10 where all methods are compared: if there is one, a convention in which a short list is not 0."""
        conventions = self.settings.evaluation.conventions
        usable = [name for name in conventions if name in NDCG_IN_WORDS] or ["exp"]
        return next((name for name in usable if name not in SHORT_IS_ZERO), usable[0])

    def query_options(self, wildcards: Any) -> dict[str, Any]:
        """How queries become vectors on the data set of a job: vectors that the data have are taken in place of documents."""
        options: dict[str, Any] = self.settings.queries.model_dump(exclude={"vectors"})
        dataset = self.dataset(wildcards)
        encoded = self.settings.queries.vectors == "dense" and dataset.kind == "text"
        given = "vectors" in dataset.files or encoded
        return options | {"pooling": "none", "query_columns": True} if given else options

    def vector_options(self, wildcards: Any, looked_at: bool) -> dict[str, Any] | None:
        """The same, for methods that use these vectors."""
        return self.query_options(wildcards) if looked_at else None

    @property
    def learned_together(self) -> list[str]:
        """Classic methods of which one job learns all folds of a data set: the quick ones, where folds are not divided."""
        quick = [
            name
            for name, method in CLASSIC.items()
            if not (method.query_vectors or method.learner == "lambdamart" or method.aggregates)
        ]
        return quick if self.shards == 1 else []

    def learner_scale(self, dataset: str) -> str:
        """Scale of the features for the classic methods on a data set."""
        scales: Mapping[str, str] = self.settings.learners.scales
        return scales.get(dataset, self.settings.training.scale)

    def learner_grid(self, method: str) -> dict[str, list[Any]]:
        """Values to try for each parameter of a method."""
        return self.classic[method].grid(self.settings.learners.grids.get(method))

    def tree_threads(self, wildcards: Any) -> int:
        """Threads of a job that grows boosted trees; on few rows more than one gain nothing, and few cores do more with a job each."""
        few = self.cores is not None and self.cores < 2 * _TREE_THREADS
        given = self.settings.training.tree_threads
        return given or (1 if few or self.is_small(wildcards.dataset) else _TREE_THREADS)

    def learner_threads(self, wildcards: Any) -> int:
        """Threads of the classic method of a job: only boosted trees use more than one."""
        return self.tree_threads(wildcards) if self.classic[wildcards.method].learner == "lambdamart" else 1

    # ---- studies ----

    def section(self, study: Study) -> StudySection:
        """Section of the configuration that belongs to a study."""
        return self.settings.of_study(study)

    @cached_property
    def _datasets_by_study(self) -> dict[str, dict[str, PlannedDataset]]:
        return {study.name: self._datasets(study) for study in ALL_STUDIES}

    def _datasets(self, study: Study) -> dict[str, PlannedDataset]:
        wanted = self.section(study).datasets
        return {
            name: dataset
            for name, dataset in self.planned.datasets.items()
            if self.settings.wants(study) and dataset.kinds & {*study.kinds} and (wanted is None or name in wanted)
        }

    def refuse_leaks(self) -> None:
        """Stop where a study would see what it must not on raw text (`Study.refuses`).

        Raises
        ------
        InputError
            With the key, the reason, and both ways out.
        """
        for study in ALL_STUDIES:
            text = [name for name, dataset in self.datasets_of(study).items() if dataset.kind == "text"]
            for key, reason in study.refuses.items():
                if text and self.option(key):
                    raise InputError(
                        f"{key} and the study {study.short} do not go together on {', '.join(text)}: {reason}",
                        fix=f"set {key} to false, or leave these data sets out of {study.short}.datasets",
                    )

    def datasets_of(self, study: Study) -> dict[str, PlannedDataset]:
        """Data sets that a study is run on."""
        return self._datasets_by_study[study.name]

    def studies_of(self, dataset: str) -> list[Study]:
        """Studies that are run on a data set."""
        return [study for study in ALL_STUDIES if dataset in self.datasets_of(study)]

    def methods_run(self, study: Study) -> list[str]:
        """Methods of a study that are run."""
        return study.run(self.section(study))

    def first_stages_of(self, dataset: str) -> list[str]:
        """Rankings that every table of a data set's methods has: the reference, and for text the tuned first stages."""
        is_text = dataset in self.planned.datasets and self.planned.datasets[dataset].kind == "text"
        return [name for name in FIRST_STAGES if name != DENSE or self.encoded] if is_text else [REFERENCE]

    @property
    def first_stages_and_one_model(self) -> list[str]:
        """First stages of raw text, and the one linear model of all queries that a study on text must beat."""
        return [*(name for name in FIRST_STAGES if name != DENSE or self.encoded), "ranksvm"]

    def measured_in(self, study: Study) -> Callable[[Any], list[str]]:
        """Methods of a study that are measured on the data set of a job, first stages first."""
        return lambda wildcards: [*self.first_stages_of(wildcards.dataset), *self.methods_run(study)]

    def methods_of(self, dataset: str) -> list[str]:
        """Methods that are run on a data set."""
        of_studies = [method for study in self.studies_of(dataset) for method in self.methods_run(study)]
        # A study may compare with a classic learner, and so may another.
        return list(dict.fromkeys([*self.first_stages_of(dataset), *of_studies, *self.learners_of(dataset)]))

    @cached_property
    def _refitted(self) -> set[str]:
        """Methods that are fitted several times: those of a study that draw at random, all of which its claims name."""
        of_studies = (method for study in ALL_STUDIES for method in study.methods)
        return {method.name for method in of_studies if method.refitted and self.settings.refits > 1}

    def refitted(self, methods: Iterable[str]) -> list[str]:
        """Those of the methods that are fitted several times."""
        return [name for name in methods if name in self._refitted]

    def measured(self, methods: Callable[[Any], list[str]]) -> dict[str, Any]:
        """Params of a job that measures the ``methods`` of its data set."""
        return {"folds": self.folds, "methods": methods, "refitted": lambda job: self.refitted(methods(job))}

    def baselines_of(self, short: str) -> Callable[[Any], list[str]]:
        """First stages, and the classic methods run on a data set that the tables of a study show for comparison."""

        def names(wildcards: Any) -> list[str]:
            known = self.learners_of(wildcards.dataset)
            first = self.first_stages_of(wildcards.dataset)
            return [*first, *(name for name in self.option(f"{short}.baselines") if name in known)]

        return names

    def budget(self, study: Study) -> dict[str, Any]:
        """Values of the keys that a study's declaration of claims names."""
        pairs = (key.partition(" as ") for key in study.budget)
        return {new or key.rpartition(".")[2]: self.option(key) for key, _, new in pairs}

    def neighbours_used(self) -> list[float]:
        """The largest share and the largest number of neighbours that a study of this run uses."""
        return largest_used(k for study in self.decided_studies for k in study.neighbours(self.section(study)))

    def claim_members(self, study: Study) -> dict[str, list[str]]:
        """Data sets whose claims are decided together, by name: the seeds of one simulated set; all others are alone."""
        members_of: dict[Any, list[str]] = {}
        for name, dataset in self.datasets_of(study).items():
            options = {key: value for key, value in dataset.options.items() if key not in ("seed", "like")}
            alike = dataset.kind == "simulated"
            key = (dataset.options.get("like", name), str(options)) if alike else name
            members_of.setdefault(key, []).append(name)
        return {members[0]: members for members in members_of.values()}

    def queries_of(self, study: Study) -> dict[str, str]:
        """What names the queries of each data set whose claims are decided; forms of one have the same."""
        return {name: self.planned.datasets[name].queries_of or name for name in self.claim_members(study)}

    @cached_property
    def averaged(self) -> dict[str, str]:
        """Main claims of the studies with enough independent public sets for an average, by the name of the study."""
        public = {name for name, of in self.planned.datasets.items() if of.kind != "simulated"}
        return {
            study.name: study.main
            for study in ALL_STUDIES
            if study.main and len({of for name, of in self.queries_of(study).items() if name in public}) >= Rules().sets
        }

    @cached_property
    def decided(self) -> list[tuple[str, str]]:
        """Data set and short name of the study of all observations that decide claims."""
        return [(name, study.short) for study in ALL_STUDIES for name in self.datasets_of(study)]

    @cached_property
    def decided_studies(self) -> list[Study]:
        """Studies whose claims are decided."""
        return [study for study in ALL_STUDIES if self.datasets_of(study)]

    # ---- measures ----

    @cached_property
    def measures(self) -> list[str]:
        """Measures of all methods on all data sets."""
        of_learners = map(self.learner_convention, self.learner_datasets)
        conventions = [*self.settings.evaluation.conventions, *of_learners]
        names = [name for convention in conventions for name in CONVENTIONS[convention]]
        return list(
            dict.fromkeys([*names, "ap", f"ndcg@10/{self.ndcg_convention}", *self.settings.difficulty.measures])
        )


def study_measures(study: Study) -> list[str]:
    """Measures of a study's methods: those it names, and those of the conventions it names."""
    return [measure for name in study.measures for measure in CONVENTIONS.get(name, (name,))]


def names_pattern(names: Iterable[str]) -> str:
    """Wildcard constraint that admits these names alone."""
    return "|".join(map(re.escape, names)) or "(?!)"
