"""What the commands for runs and judgments do, in Python: `evaluate`, `compare`, `fuse`, `advise`, `retrieve`.

Runs and judgments are paths, dictionaries ``{query: {document: number}}``, DataFrames (columns such as qid, docno, score), or
what another tool answers (`qdrank.datasets.runs.json_forms.FORMS`).
Measures are named as ir_measures spells them, or are its objects. What comes back prints as the command does, has ``.frame()``,
and is a table in a notebook. Wrong input raises `qdrank.errors.InputError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from qdrank.commands.advise import advice_lines
from qdrank.commands.compare import heading, report_lines
from qdrank.commands.evaluate import USUAL, RunTable, text_table
from qdrank.datasets.runs.reading import distinct_names, qrels_of, run_of
from qdrank.datasets.runs.run import Run
from qdrank.datasets.runs.writing import write_run
from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.run_files import measured_run, named_run
from qdrank.evaluation.two_runs import Question, TwoRuns
from qdrank.measures.names import parse

if TYPE_CHECKING:
    import pandas as pd

    from qdrank.datasets.runs.reading import Given
    from qdrank.evaluation.advice import Advice


class _Shown:
    """What prints as a command does, and is a table in a notebook."""

    def frame(self) -> pd.DataFrame:
        """The numbers."""
        raise AttributeError

    def _repr_html_(self) -> str:
        html: str = self.frame().to_html(index=False)
        return html


@dataclass(frozen=True, eq=False)
class Evaluation(_Shown):
    """Measures of runs; ``table`` is what the command prints."""

    table: RunTable

    def frame(self) -> pd.DataFrame:
        """A row for each run: its name, and the mean of each measure."""
        import pandas as pd

        return pd.DataFrame([{"run": run.name, **run.means} for run in self.table.runs])

    def by_query(self) -> pd.DataFrame:
        """A row for each run and query."""
        import pandas as pd

        rows = [pd.DataFrame({"run": run.name, "query_id": run.query_id, **run.values}) for run in self.table.runs]
        return pd.concat(rows, ignore_index=True)

    def __str__(self) -> str:
        return text_table(self.table)


def evaluate(
    qrels: Given, *runs: Given, measures: Iterable[Any] = USUAL, names: Sequence[str] = (), baseline: str = ""
) -> Evaluation:
    """Measures of runs against judgments; with the name of a ``baseline`` the differences from it, too."""
    wanted = _measures(measures)
    judged = qrels_of(qrels)
    measured = [measured_run(run, judged, "", wanted) for run in _runs(runs, names)]
    table = RunTable(judged.words, measured, wanted)
    if baseline:
        from qdrank.evaluation.comparison import differences  # loads Arrow

        other = named_run(measured, baseline)
        table = replace(table, baseline=other.name, differences=differences(measured, other, wanted))
    return Evaluation(table)


@dataclass(frozen=True, eq=False)
class Comparison(_Shown):
    """The verdict on two runs; ``reports`` has all that is said of each measure, as the command's JSON."""

    question: Question
    reports: list[dict[str, Any]]

    @property
    def verdict(self) -> str:
        """In the first measure: "holds", "does not hold" or "cannot tell"."""
        verdict: str = self.reports[0]["verdict"]
        return verdict

    def frame(self) -> pd.DataFrame:
        """A row for each measure."""
        import pandas as pd

        kept = ("measure", "text", "verdict", "difference", "low", "high", "level", "n", "p", "reason")
        return pd.DataFrame([{name: report[name] for name in kept} for report in self.reports])

    def __str__(self) -> str:
        return "\n".join([*heading(self.question.two), *(line for one in self.reports for line in report_lines(one))])


def compare(
    qrels: Given,
    a: Given,
    b: Given,
    *,
    margin: float,
    measures: Iterable[Any] | str = USUAL[:1],
    claim: str = "better",
    groups: AnyPath | Mapping[str, str] | None = None,
    missing: str = "",
    names: Sequence[str] = (),
) -> Comparison:
    """The verdict on a claim on run ``a`` against run ``b``: "better", "as-good" or "equal", by a difference of ``margin``.

    The first measure decides. ``groups`` names the group of each query; ``missing`` says how a judged query counts that
    a run lacks: "empty" or "skip".
    """
    two = TwoRuns.of(qrels_of(qrels), _runs([a, b], names), _measures(measures), missing=missing)
    question = Question(two, claim, margin, groups)
    return Comparison(question, question.reports())


@dataclass(frozen=True, eq=False)
class Ranking(_Shown):
    """A run."""

    run: Run

    def frame(self) -> pd.DataFrame:
        """A row for each document: qid, docno, score, rank."""
        import pandas as pd

        frame = pd.DataFrame({"qid": self.run.query, "docno": self.run.doc, "score": self.run.score})
        return frame.assign(rank=frame.groupby("qid", sort=False).cumcount() + 1)

    def write(self, path: AnyPath) -> None:
        """Write it as trec_eval reads it; compressed if the name ends so."""
        write_run(path, self.run.query, self.run.doc, self.run.score, tag=self.run.tag)

    def __str__(self) -> str:
        return f"{self.run.tag}: {len(self.run.place):,} queries, {len(self.run.doc):,} documents"


def fuse(
    *runs: Given, method: str = "rrf", norm: str = "min-max", weights: Sequence[float] | None = None, k: float = 60
) -> Ranking:
    """One run from several, without judgments."""
    from qdrank.learners.fusion import fuse as fused

    return Ranking(fused(_runs(runs), method, norm=norm, weights=weights, k=k, tag="qdrank-fused"))


@dataclass(frozen=True, eq=False)
class Advised(_Shown):
    """How to fuse runs, and whether weights per query are worth it."""

    advice: Advice
    measure: str
    margin: float

    @property
    def verdict(self) -> str:
        """Whether weights per query are worth it: "holds", "does not hold" or "cannot tell"."""
        return self.advice.verdict

    def frame(self) -> pd.DataFrame:
        """A row for each run: its mean alone, and its best fixed weight."""
        import pandas as pd

        return pd.DataFrame({"run": self.advice.tags, "alone": self.advice.alone, "weight": self.advice.weights})

    def __str__(self) -> str:
        return "\n".join(advice_lines(self.advice, self.measure, self.margin))


def advise(
    qrels: Given, *runs: Given, measure: Any = USUAL[0], margin: float = 0.005, seed: int = 1, names: Sequence[str] = ()
) -> Advised:
    """The best weights to fuse runs, and whether weights per query pay."""
    from qdrank.evaluation.advice import advise as advised

    (name,) = _measures([measure])
    return Advised(advised(_runs(runs, names), qrels_of(qrels), measure=name, margin=margin, seed=seed), name, margin)


def retrieve(
    dataset: str, *, methods: Sequence[str] | None = None, depth: int = 100, encoder: str | None = None
) -> dict[str, Ranking]:
    """First stages of a text collection, by name: a registered one, or a folder in BEIR's form.

    ``methods`` are bm25, rm3, lsa and, with an ``encoder``, dense; all that can be had if None.
    """
    from qdrank.commands.retrieve import collection_of, runs_of

    return {run.tag: Ranking(run) for run in runs_of(collection_of(dataset), methods, depth, encoder)}


def _measures(names: Iterable[Any] | str) -> list[str]:
    """Our names for measures; ir_measures' objects print as their names."""
    asked = [names] if isinstance(names, str) else list(names)
    return [parse(str(name), convention="trec").name for name in asked]


def _runs(given: Sequence[Any], names: Sequence[str] = ()) -> list[Run]:
    """Runs under names that tell them apart."""
    if not given:
        raise InputError("no runs", fix="give a run after the judgments")
    if names and len(names) != len(given):
        raise InputError(f"{len(names)} names for {len(given)} runs", fix="give a name for each run")
    given = [one.run if isinstance(one, Ranking) else one for one in given]
    runs = [run_of(one, f"run {i}") for i, one in enumerate(given, 1)]
    tags = list(names) or distinct_names(
        [
            (one if isinstance(one, str) else str(i), run.tag)
            for i, (one, run) in enumerate(zip(given, runs, strict=True))
        ]
    )
    return [replace(run, tag=tag) for run, tag in zip(runs, tags, strict=True)]
