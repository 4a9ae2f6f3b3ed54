"""The job of a fold: rankers from plain to query-dependent, each with its control, checks, and document recurrence.

What a ranker computes for a query must not change with the query's own judgments. Grades exchanged among fixed candidates
do not show that: judgments may also decide which documents are candidates. So a check judges the collection again, and
finds the candidates again by the code that found them first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection, JudgedPairs
from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, TextArray, load_judged
from qdrank.layout import FloatArray, IntArray
from qdrank.queries.recipe import load_document_vectors, load_queries, topics_of
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.bilinear import Mixture, out_of_fold
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.rankers.evidence import recurrence
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker
from qdrank.store import read, write
from qdrank.studies.beyond.methods import CONTROL_METHODS, MEASURE, METHODS, SINGLE, TREES
from qdrank.studies.beyond.options import Options
from qdrank.studies.running import FoldRun, View
from qdrank.text.extract import TextSettings, text_settings
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.retrieve import RankedDocuments, find_candidates, missed_documents, retrieve


@dataclass(eq=False)
class Ladder(FoldRun):
    """The rankers of a fold; ``drawn`` has the `bases` of their mixtures by seed."""

    drawn: dict[int, tuple[list[QueryRanker], FloatArray]] = field(default_factory=dict)

    def bases(self, seed: int) -> tuple[list[QueryRanker], FloatArray]:
        """Single and LambdaMART fitted with a seed, and their out-of-fold scores (n_documents, 2) of the training documents.

        All mixtures stand on them, also the control, since neither looks at the vectors. Trees take most of the time.
        """
        if seed not in self.drawn:
            train, watched = self.views[""].parts["train"], self.views[""].watched
            rankers = [self.made[name] for name in (SINGLE, TREES)]
            if seed != self.seed:
                rankers = [one.again(seed, train, watched) for one in rankers]
            self.drawn[seed] = rankers, out_of_fold(rankers, *train, parts=self.options.parts, seed=seed)
        return self.drawn[seed]

    def mixture(self, **given: Any) -> MixtureOfLadder:
        """A mixture of Single and LambdaMART, with ``given`` parameters."""
        made = MixtureOfLadder(bases=self.bases(self.seed)[0], parts=self.options.parts, seed=self.seed, **given)
        made.drawn = self.bases
        return made


@dataclass(kw_only=True, eq=False)
class MixtureOfLadder(Mixture):
    """A mixture whose rankers are fitted, and score out of fold, once for all mixtures on them."""

    drawn: Callable[[int], tuple[list[QueryRanker], FloatArray]] = field(init=False, repr=False)

    def fit(self, train: Judged, vectors: FloatArray, validation: Validation | None = None) -> Self:  # noqa: ARG002
        """Learn the weights."""
        self.bases, held_out = self.drawn(self.seed)
        return self.fit_weights(held_out, train, vectors)

    def fresh(self) -> Self:
        """The same mixture, not fitted, of the same ladder."""
        made = super().fresh()
        made.drawn = self.drawn
        return made


def fit_fold(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    beyond: Mapping[str, Any],
    queries: Mapping[str, Any],
    scale: FeatureScale,
    refits: int,
    source: Mapping[str, Any],
    text: Mapping[str, Any],
    log: Callable[..., None],
) -> None:
    """Tune, score and write all rankers and controls, with checks.

    ``beyond`` holds the keys of `Options`, ``queries`` the options of query vectors. ``source`` holds the arguments of
    `read_collection`, empty if the data are no raw text, and ``text`` that section of the configuration.
    """
    documents = fold_documents(load_judged(files["judged"]), fold, scale)
    documents = with_words(documents, read(files["topics"], "topics"))
    options, vectors = Options(**beyond, reference=reference_column(files["columns"])), load_queries(files["queries"])
    recipe = load_document_vectors(files, queries, missing=documents.view().missing)
    view = View.of(documents, lambda part: vectors.of(part.query_id), recipe)
    run = Ladder(fold, {"": view}, options, measure=MEASURE, seed=options.seed, refits=refits, log=log)
    run.run(METHODS).run(CONTROL_METHODS).write(out)
    rejudging = Rejudging(read_collection(**source), text_settings(text, options.seed)) if source else None
    write(out["checks"], "figure", checks_table(run, rejudging))
    write(out["recurrence"], "figure", recurrence_table(run))


def with_words(documents: FoldDocuments, topics: pa.Table) -> FoldDocuments:
    """The documents with the words of their queries, joined on the ids of the queries."""
    parts = {}
    for role, part in documents.parts.items():
        text = topics_of(topics, part.query_id.tolist())[1]
        parts[role] = replace(part, text=None if text is None else np.array(text, dtype=object))
    return replace(documents, parts=parts)


#: Fewest documents that a query is judged on when it is judged again.
FEWEST = 5


@dataclass(frozen=True, eq=False)
class RejudgedQuery:
    """A query with other judgments: its candidates by id with their grades, and relevant documents that they miss."""

    doc_id: TextArray
    grade: IntArray
    missed: tuple[int, ...]
    missed_id: tuple[str, ...]

    def share_changed(self, doc_id: TextArray) -> float:
        """Share of the candidates that only one of the two lists has; 0 if they are the same."""
        before, after = set(doc_id.tolist()), set(self.doc_id.tolist())
        return len(before ^ after) / len(before | after)


@dataclass(frozen=True, eq=False)
class Rejudging:
    """A collection whose queries can be judged again; what judgments cannot touch, the ranking of BM25, is computed once."""

    collection: Collection
    settings: TextSettings

    @cached_property
    def ranking(self) -> RankedDocuments:
        """What the first stage finds for every query."""
        index = build_index(self.collection.documents, self.settings.analyser)
        queries = analyse_queries(index, [query.text for query in self.collection.queries])
        return retrieve(index.field(self.settings.searched), queries, self.settings.bm25, n_top=self.settings.n_top)

    def of(self, query_id: str, rng: np.random.Generator) -> RejudgedQuery:
        """The query as if documents drawn at random had been judged, with grades drawn from its own and one above 0."""
        row = [query.query_id for query in self.collection.queries].index(query_id)
        documents, qrels = self.collection.documents.doc_id, self._qrels(row, rng)
        candidates = find_candidates(self.ranking, qrels, len(documents), judged=self.settings.judged)
        ours = candidates.where(candidates.query == row)
        missed = missed_documents(ours, _of_query(qrels, row), len(documents)).get(row, [])
        return RejudgedQuery(
            doc_id=np.array([documents[place] for place in ours.document], dtype=object),
            grade=ours.label.astype(np.int64),
            missed=tuple(grade for grade, _ in missed),
            missed_id=tuple(documents[place] for _, place in missed),
        )

    def _qrels(self, row: int, rng: np.random.Generator) -> JudgedPairs:
        """All judgments, those of one query replaced, in order of query and document."""
        qrels, n_documents = self.collection.qrels, len(self.collection.documents.doc_id)
        other, known = qrels.query != row, qrels.grade[qrels.query == row]
        n = min(max(len(known), FEWEST), n_documents)
        document = rng.choice(n_documents, n, replace=False)
        grade = np.append(rng.choice(known, n - 1) if len(known) else np.ones(n - 1), max(1, known.max(initial=1)))
        whole = [
            np.append(qrels.query[other], np.full(n, row)),
            np.append(qrels.document[other], document),
            np.append(qrels.grade[other], grade).astype(np.int64),
        ]
        order = np.lexsort((whole[1], whole[0]))
        return JudgedPairs(*(column[order] for column in whole))


def _of_query(qrels: JudgedPairs, row: int) -> JudgedPairs:
    ours = qrels.query == row
    return JudgedPairs(qrels.query[ours], qrels.document[ours], qrels.grade[ours])


#: Training queries whose judgments are replaced to see whether they leak into the query's own evidence.
PERMUTED = 20


def checks_table(run: FoldRun, rejudging: Rejudging | None = None) -> pa.Table:
    """Largest differences where there must be none: a query's grades in its evidence, all neighbours against Single.

    ``rejudging`` is the collection that raw text comes from.
    """
    rows = {"leak": _leak(run, rejudging), "all neighbours": _all_neighbours(run)}
    return pa.table({"fold": pa.array([run.fold] * len(rows)), "check": list(rows), "value": list(rows.values())})


def _leak(run: FoldRun, rejudging: Rejudging | None) -> float:
    """Largest change of a query's evidence, or of its list of candidates, when its judgments are replaced.

    In raw text they are replaced in the collection; else its grades are permuted and raised.
    """
    (train, vectors), rng = run.views[""].parts["train"], np.random.default_rng(run.options.seed)
    given = vectors if run.options.similarity == "vectors" else None
    before = run.options.evidence().fit_transform(train, given)
    worst = 0.0
    for query in rng.permutation(train.n_queries)[:PERMUTED].tolist():
        rows, y = slice(train.offsets[query], train.offsets[query + 1]), train.y.copy()
        missed: tuple[Sequence[int], Sequence[str]] = (), ()
        if rejudging is None:
            y[rows] = rng.permutation(y[rows]) + rng.integers(0, 2, len(y[rows]))
        else:
            again = rejudging.of(train.query_id[query], rng)
            worst = max(worst, again.share_changed(train.doc_id[rows]))
            grades = dict(zip(again.doc_id.tolist(), again.grade.tolist(), strict=True))
            y[rows] = [grades.get(name, 0) for name in train.doc_id[rows].tolist()]
            missed = again.missed, again.missed_id
        other = _with_missed(replace(train, y=y), query, *missed)
        changed = run.options.evidence().fit(other, given)
        asked = train.take(np.array([query]))
        after = changed.transform(asked, None if given is None else given[[query]])
        worst = max(worst, float(np.abs(after - before[rows]).max(initial=0.0)))
    return worst


def _with_missed(train: Judged, query: int, grades: Sequence[int], names: Sequence[str]) -> Judged:
    """``train`` with other missed documents of one query, if it knows any."""
    if train.missed is None or train.missed_id is None:
        return train
    all_grades, all_names = train.missed.copy(), train.missed_id.copy()
    all_grades[query], all_names[query] = tuple(grades), tuple(names)
    return replace(train, missed=all_grades, missed_id=all_names)


def _all_neighbours(run: FoldRun) -> float:
    """Largest difference between Single and a local model of all training queries."""
    single, parts, two = run.made[SINGLE], run.views[""].parts, np.arange(2)
    assert isinstance(single, LinearRanker)
    ranker, (test, vectors) = LocalRanker(k=1.0, lam=single.lam, tol=single.tol).fit(*parts["train"]), parts["test"]
    return float(np.abs(ranker.models(test.take(two), vectors[two]) - single.coef_).max())


def recurrence_table(run: FoldRun) -> pa.Table:
    """How often documents of the test queries also occur in the training queries."""
    train, test = run.views[""].parts["train"][0], run.test
    shares = vars(recurrence(train, test))
    size = {"training queries": train.n_queries, "test queries": test.n_queries, "test rows": test.n_documents}
    return pa.Table.from_pylist([{"fold": run.fold, **size, **shares}])
