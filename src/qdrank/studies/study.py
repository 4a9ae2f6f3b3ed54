"""What a study is: its paper, its settings, its methods, the steps that it computes, and what it shows of which files.

A study declares; the workflow makes a rule of each step, divides its work into jobs and runs its function, and makes targets,
report entries and claims. This module imports nothing heavy: ``"module:attribute"`` names the code that computes, and the job
that needs it loads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from qdrank.figures.palette import PURPLE, Look
from qdrank.rankers import FIRST_STAGES
from qdrank.registry import loaded

if TYPE_CHECKING:  # it takes a while to import
    from qdrank.sections import StudySection

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


ALL_KINDS = ("letor", "agg", "text", "simulated")


@dataclass(frozen=True)
class Method(Look):
    """A way to rank, with the name that it has in files and in the configuration, and the look that it has everywhere.

    Attributes
    ----------
    models : which models it ranks with, in the study's own words
    refitted : whether it draws at random, and is fitted several times
    tries : from the `qdrank.studies.running.FoldRun` to the rankers that validation chooses from, the most regularised first
    sees : name of the view of the documents that it is given
    shown : from the run and the ranker chosen to rankers that are measured too, by the setting in which they differ
    same_as : in place of rankers to try, from the run to the method that it is
    control_of : the method that it is the control of; it is measured, and has no files of its own
    """

    models: str = ""
    refitted: bool = False
    tries: Callable[[Any], Sequence[Any]] | None = field(default=None, repr=False)
    sees: str = ""
    shown: Callable[[Any, Any], Mapping[float, Any]] = field(default=lambda *_: {}, repr=False)
    same_as: Callable[[Any], str] | None = field(default=None, repr=False)
    control_of: str = ""


#: Rankings that every method starts from or must beat; they belong to no study.
FIRST_STAGE_METHODS = tuple(
    Method(name, label, PURPLE, marker) for (name, label), marker in zip(FIRST_STAGES.items(), "*phXD", strict=True)
)


@dataclass(frozen=True)
class Output:
    """A figure, or tables that one job makes.

    Attributes
    ----------
    make : "module:function" that makes it; see `qdrank.studies.making`
    shows : id to label in the report; a figure has one id
    reads : name to path below ``results/{dataset}``; ``{fold}`` stands for the files of all folds, ``{first}`` for that of
        the first; a file named after a method is read only if that method is run
    options : keys of the configuration that matter to it, such as ``geng.lam``
    caption : what the report says of it, by id where it has several: what is shown, how it was made, what to watch for; plain
        reStructuredText, after the title of the data set
    titles : id to title of a table, if it is not the label
    said : what the paper showed with it, as a sentence; if it is not in the paper, its purpose
    claims : shell patterns for the names of the claims it shows; the first figure that names a claim counts
    searched_only : names in ``reads`` of files that only searched text has (raw text, simulated webs); an output that reads
        nothing else is made for these alone
    """

    make: str
    shows: Mapping[str, str]
    reads: Mapping[str, str]
    options: tuple[str, ...] = ()
    caption: str | Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    claims: tuple[str, ...] = ()
    searched_only: tuple[str, ...] = ()

    @property
    def captions(self) -> Mapping[str, str]:
        """What the report says of each, by id."""
        return {self.id: self.caption} if isinstance(self.caption, str) else self.caption

    @property
    def of_search(self) -> bool:
        """Whether it is made for searched text alone."""
        return set(self.reads) == set(self.searched_only)

    @property
    def module(self) -> str:
        """Module that makes it."""
        return self.make.partition(":")[0]

    @property
    def id(self) -> str:
        """Its first id, after which its rule is named."""
        return next(iter(self.shows))

    def title(self, table: str) -> str:
        """Title of the table with this id, shown after the name of the data set."""
        return self.titles.get(table, self.shows[table])


@dataclass(frozen=True)
class Study:
    """A paper's study.

    Attributes
    ----------
    name : of its folder, its rule file and its target, such as ``geng2008``
    short : of its section in the configuration, its folder below the results, and the ids of its outputs
    paper : as it is cited
    idea : what the paper proposes, in a sentence
    against : the method that its gains are measured against
    one_model : its linear model of all queries, if the tables by query difficulty may compare all methods with it
    section : "module:class" of its settings
    methods : every method it may run, in the order of its tables
    run : from its section to the names of the methods to run
    measures : names of the measures, or of conventions, used for its methods
    steps : what it computes; the workflow makes rules of them
    figures, tables : what it shows, in the order of the paper
    headline : id of the figure that shows its result best, which the first page puts first; the first one if empty
    observations : the values that decide its claims; ``make`` gives contrasts by claim (`qdrank.evaluation.values`)
    claims : "module:function" that declares its claims, from the keys of the configuration in ``budget``
    main : name of the claim that it is about, whose sets and average are drawn
    budget : keys of the configuration that its declaration names, such as ``geng.lambdas``; ``key as name`` renames one
    neighbours : from its section to the numbers of nearest queries that it uses; up to 1 they are shares
    across : "module:function" for claims that compare data sets
    timed : ids of outputs that hold times, which differ from run to run
    served : short names that `qdrank rank` knows, and the methods they stand for
    rankers : its own kinds of rankers, by the name of their stored form: "module:class"
    retune : "module:function" that gives a stored ranker another number of neighbours and lambda
    kinds : kinds of data sets that it can be run on; ``runs``: those made of the runs of search engines
    refuses : settings of raw text that would show it what it must not see, such as ``text.judged``, and why
    """

    name: str
    short: str
    paper: str
    section: str
    methods: tuple[Method, ...]
    run: Callable[[Any], list[str]]
    measures: tuple[str, ...]
    idea: str = ""
    against: str = ""
    one_model: str = ""
    steps: tuple[Step, ...] = ()
    figures: tuple[Output, ...] = ()
    tables: tuple[Output, ...] = ()
    headline: str = ""
    observations: Output | None = None
    claims: str = ""
    main: str = ""
    budget: tuple[str, ...] = ()
    neighbours: Callable[[Any], list[float]] = lambda _: []
    across: str = ""
    timed: tuple[str, ...] = ()
    served: Mapping[str, str] = field(default_factory=dict)
    rankers: Mapping[str, str] = field(default_factory=dict)
    retune: str = ""
    kinds: tuple[str, ...] = ALL_KINDS
    refuses: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> type[StudySection]:
        """Class of its section of the configuration."""
        section: type[StudySection] = loaded(self.section)
        return section

    @property
    def drawn_together(self) -> list[list[Output]]:
        """Figures by what they are drawn from: those that read the same files are one job, which starts once."""
        jobs: dict[tuple[Any, ...], list[Output]] = {}
        for figure in self.figures:
            jobs.setdefault((*sorted(figure.reads.items()), figure.searched_only), []).append(figure)
        return [*jobs.values()]


class Keys(SimpleNamespace):
    """Read-only values by key.

    ``settings.py`` of a study declares each key once: type, default, bounds and description. The study's ``Options`` is
    that section for the type checker and this class at run time. So jobs need not load pydantic, and a changed default
    or description reruns nothing. A key that the rule did not pass raises an error where it is used.
    """

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"the value of {name} is given by the configuration")

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"this job was not given the key {name}: add it to the params of its rule")

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """The same keys, some with other values."""
        return type(self)(**{**vars(self), **update})
