"""Two runs against judgments: the verdict, what it rests on, and what would change it.

The first measure asks the question, at the level of `RULES_OF_RUNS`; further measures and groups of queries are corrected together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from qdrank.datasets.runs.reading import distinct_names, read_qrels, read_runs
from qdrank.datasets.runs.rows import read_groups
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import AnyPath, InputError
from qdrank.evaluation.comparison import by_group, groups_of, paired_t, pairs_of
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import FAILS, HOLDS, RULES_OF_RUNS, UNCLEAR, Claim, Declaration, Rules
from qdrank.evaluation.intervals import queries_needed
from qdrank.evaluation.run_files import MeasuredRun, is_letor, measured_files, measured_run, told_apart
from qdrank.evaluation.unjudged import depth_of, first_documents, with_grades
from qdrank.evaluation.values import Pairs, Values
from qdrank.layout import FloatArray
from qdrank.measures.names import judged_only


class Wording(NamedTuple):
    """A claim on a against b: its kind, what is said where it holds and where it does not, and the true differences that make it false."""

    kind: str
    holds: str
    fails: str
    false_at: str


CLAIMS = {
    "better": Wording("superiority", "{a} is better than {b}", "{a} is not better than {b}", "0 or less"),
    "as-good": Wording(
        "non-inferiority", "{a} is as good as {b}, or better", "{a} is worse than {b}", "-{margin:g} or less"
    ),
    "equal": Wording(
        "equivalence", "{a} and {b} are equally good", "{a} and {b} differ", "{margin:g} or more, either way"
    ),
}
#: Judged queries that a run may lack before it must be said how they count.
LACKING = 0.1
_SHOWN = 5
_MANY = Rules().needed(Rules().alpha)


@dataclass(frozen=True, eq=False)
class TwoRuns:
    """Runs a and b, measured.

    Attributes
    ----------
    judged : the judgments, in words
    names : names of the measures; the first decides
    a, b : the runs
    qrels, runs : judgments and runs as read; None and empty for scores of a LETOR file
    missing : how a judged query counts that a run lacks: "empty", "skip" or "", not said
    """

    judged: str
    names: Sequence[str]
    a: MeasuredRun
    b: MeasuredRun
    qrels: Qrels | None = None
    runs: tuple[Run, ...] = ()
    missing: str = ""

    @classmethod
    def read(cls, qrels: AnyPath, a: AnyPath, b: AnyPath, names: Sequence[str], *, missing: str = "") -> TwoRuns:
        """Two files with one run each, or with one score for each row of a LETOR file."""
        if os.path.realpath(a) == os.path.realpath(b):
            raise InputError("both runs are the same file", file=a, fix="give the files of two runs")
        if is_letor(qrels):
            judged, scored = measured_files(qrels, [a, b], names)
            first, second = told_apart(list(scored))
            return cls(judged, names, first, second)
        judgments = read_qrels(qrels)
        each = [(path, run) for path in (a, b) for run in read_runs(path)]
        if len(each) != 2:
            raise InputError(f"{len(each)} runs in the two files", fix="give two files with one run each")
        tags = distinct_names([(path, run.tag) for path, run in each])
        runs = tuple(replace(run, tag=tag) for (_, run), tag in zip(each, tags, strict=True))
        return cls.of(judgments, runs, names, files=[a, b], missing=missing)

    @classmethod
    def of(
        cls,
        qrels: Qrels,
        runs: Sequence[Run],
        names: Sequence[str],
        *,
        files: Sequence[AnyPath] = ("", ""),
        missing: str = "",
    ) -> TwoRuns:
        """Two runs against judgments; each measure is taken of judged documents alone, too."""
        wanted = list(
            dict.fromkeys([*names, *(f"judged@{depth_of(name)}/trec" for name in names), *map(judged_only, names)])
        )
        a, b = (measured_run(run, qrels, file, wanted) for run, file in zip(runs, files, strict=True))
        return cls(qrels.words, names, a, b, qrels, tuple(runs), missing)

    def pairs(self, name: str) -> Pairs:
        """Values of a measure on the queries that count."""
        pairs = pairs_of(self.a, self.b, name)
        if self.missing != "skip":
            return pairs
        answered = set(self.a.query_id) - {*self.a.missing, *self.b.missing}
        kept = np.array([query in answered for query in pairs.query.tolist()], dtype=bool)
        if not kept.any():
            raise InputError("no judged query is answered by both runs", fix="leave --missing skip out")
        return Pairs(pairs.query[kept], pairs.a[kept], pairs.b[kept])

    @property
    def lacks(self) -> str:
        """Why there is no verdict before it is said how missing queries count, in words; empty if there may be one."""
        for run in (self.a, self.b):
            if not self.missing and len(run.missing) > LACKING * len(run.query_id):
                return (
                    f"{run.name} lacks {len(run.missing):,} of {len(run.query_id):,} judged queries, such as "
                    f"{', '.join(run.missing[:_SHOWN])}; say how they count: --missing empty or --missing skip"
                )
        return ""

    def graded(self, grades: Iterable[tuple[str, str, int]]) -> TwoRuns:
        """The same with further judgments: query, document and grade of each."""
        assert self.qrels is not None
        qrels = with_grades(self.qrels, grades)
        return TwoRuns.of(qrels, self.runs, self.names, files=[self.a.file, self.b.file], missing=self.missing)


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of two runs: a claim on a against b, one of `CLAIMS`, and the smallest difference that counts."""

    two: TwoRuns
    claim: str
    margin: float
    groups: AnyPath | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.margin) and self.margin >= 0):
            raise InputError("the margin must be 0 or more", found=str(self.margin), fix="give a margin such as .005")

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Group of each query that counts, by measure; empty without groups."""
        if self.groups is None:
            return {}
        file, known = (
            (None, self.groups) if isinstance(self.groups, Mapping) else (self.groups, read_groups(self.groups))
        )
        return {name: groups_of(self.two.pairs(name).query.tolist(), known, file) for name in self.two.names}

    @property
    def others(self) -> int:
        """How many intervals are corrected together: those of further measures, and of the groups of each measure."""
        return len(self.two.names) - 1 + sum(len(set(labels)) for labels in self.labels.values())

    @property
    def failed(self) -> str:
        """What is so where the claim does not hold."""
        return CLAIMS[self.claim].fails.format(a=self.two.a.name, b=self.two.b.name)

    def reports(self) -> list[dict[str, Any]]:
        """The report on each measure, the first of which decides."""
        return [self._report(name, first=i == 0) for i, name in enumerate(self.two.names)]

    def verdict(self, name: str, two: TwoRuns | None = None, *, first: bool = True) -> dict[str, Any]:
        """The row of the verdict in one measure; ``two`` are the same runs under other judgments."""
        a, b = self.two.a.name, self.two.b.name
        wording = CLAIMS[self.claim]
        text = wording.holds.format(a=a, b=b)
        claim = Claim(name=name, text=text, expected="", kind=wording.kind, margin=self.margin, unit=name, measure=name)
        rules = RULES_OF_RUNS if first else replace(RULES_OF_RUNS, alpha=RULES_OF_RUNS.alpha / self.others)
        pairs = (two or self.two).pairs(name)
        observations = {name: {"all": Values(pairs.differences, pairs.query)}}
        declared = Declaration(study="compare", paper="", claims=(claim,), rules=rules)
        row: dict[str, Any] = decide(declared, {"runs": observations}, dataset="runs").to_pylist()[0]
        if self.two.lacks:
            row |= {"verdict": UNCLEAR, "reason": self.two.lacks}
        elif not pairs.differences.any():  # a build in which nothing changed must pass
            verdict = FAILS if self.claim == "better" else HOLDS
            row |= {"verdict": verdict, "reason": f"no query differs: both have the same value on all {pairs.n}"}
        return row

    def _report(self, name: str, *, first: bool) -> dict[str, Any]:
        """All that is said of one measure."""
        pairs, row = self.two.pairs(name), self.verdict(name, first=first)
        deviation = float(pairs.differences.std(ddof=1)) if pairs.n > 1 else 0.0
        alpha = RULES_OF_RUNS.alpha if first else RULES_OF_RUNS.alpha / self.others
        kept = ("text", "measure", "verdict", "reason", "margin", "holds_if", "fails_if", "n", "low", "high", "level")
        difference = float(pairs.differences.mean())
        return {
            **{key: row[key] for key in kept},
            "decides": first,
            "mean": {self.two.a.name: float(pairs.a.mean()), self.two.b.name: float(pairs.b.mean())},
            "difference": difference,
            "p": paired_t(pairs).p if pairs.n > 1 else None,
            "p_of_claim": row["p"],
            "false_at": CLAIMS[self.claim].false_at.format(margin=self.margin),
            "detectable": row["detectable"],
            "absent": 1 - (alpha / 2) ** (1 / pairs.n) if pairs.n < _MANY else None,
            "queries_needed": {
                "for the margin": _queries_needed(self.margin, deviation, alpha),
                "for the difference seen": _queries_needed(difference, deviation, alpha),
            },
            "queries_that_differ_most": list(_extremes(pairs)),
            "unjudged": self._unjudged(name, row, first=first),
            "groups": self._of_groups(name, pairs.differences),
        }

    def _of_groups(self, name: str, differences: FloatArray) -> list[dict[str, Any]] | None:
        if not self.labels:
            return None
        labels = self.labels[name]
        alpha = RULES_OF_RUNS.alpha * len(set(labels)) / self.others
        return list(map(vars, by_group(differences, labels, alpha=alpha)))

    def _unjudged(self, name: str, row: dict[str, Any], *, first: bool) -> dict[str, Any] | None:
        """What is judged of both runs, and the verdict were it otherwise; None where all documents are."""
        two, depth = self.two, depth_of(name)
        if two.qrels is None or judged_only(name) == name:
            return None
        share = {run.name: float(run.values[f"judged@{depth}/trec"].mean()) for run in (two.a, two.b)}
        report = {"depth": depth, "judged": share, "judged_alone": row["verdict"], "turned": None}
        if two.lacks or not any(self.unjudged(name)):
            return report
        report["judged_alone"] = self.verdict(judged_only(name), first=first)["verdict"]
        if row["verdict"] in (HOLDS, FAILS):
            favoured = 1 if row["verdict"] == HOLDS else 0
            grade = int(two.qrels.grade.max())
            against = [(query, doc, grade) for query, doc, _ in self.unjudged(name)[favoured]]
            report["turned"] = self.verdict(name, two.graded(against), first=first)["verdict"]
        return report

    def unjudged(self, name: str) -> tuple[list[tuple[str, str, int]], ...]:
        """Documents among the first of each run that nobody judged, and that the other run ranks lower: query, document, rank."""
        two = self.two
        assert two.qrels is not None
        first = [first_documents(run, two.qrels, depth_of(name)) for run in two.runs]
        return tuple(
            [
                (query, doc, rank)
                for query, ranked in mine.items()
                for doc, (rank, is_judged) in ranked.items()
                if not is_judged and rank < theirs.get(query, {}).get(doc, (np.inf, False))[0]
            ]
            for mine, theirs in (first, first[::-1])
        )


def _queries_needed(difference: float, deviation: float, alpha: float) -> int | None:
    """Queries that find a true ``difference`` with power .8, at least as many as a verdict needs; None: no number does."""
    found = queries_needed(difference, deviation=deviation, alpha=alpha)
    return None if found is None else max(found, RULES_OF_RUNS.needed(alpha))


def _extremes(pairs: Pairs) -> Iterator[dict[str, Any]]:
    """The queries with the largest differences, in both directions."""
    order = np.argsort(-np.abs(pairs.differences), kind="stable")[:_SHOWN]
    for i in order[pairs.differences[order] != 0].tolist():
        yield {"query": str(pairs.query[i]), "a": float(pairs.a[i]), "b": float(pairs.b[i])}
