"""First stages to compare with every text ranker: BM25 with constants tuned on validation, and RM3 on top of it.

Both retrieve from the whole collection, as many documents as there are candidates, so their runs hold other documents
than those that are reranked. `Judged.ranked_instead` gives these documents their grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection
from qdrank.datasets.judged import Judged, TextArray, load_roles, scores_table
from qdrank.layout import FloatArray
from qdrank.learners.choose import Choice, ValidationQueries, choice_rows, choose
from qdrank.rankers import REFERENCE, RM3_RERANKS
from qdrank.rankers.stored import Searcher, state_table
from qdrank.store import write
from qdrank.text.expansion import Feedback, expanded_queries
from qdrank.text.extract import TextSettings, text_settings
from qdrank.text.index import AnalysedQueries, FieldIndex, analyse_queries, build_index
from qdrank.text.retrieve import BM25, RankedDocuments, bm25_scores, retrieve


@dataclass(frozen=True, eq=False)
class Retriever:
    """A retriever: the field of a collection to search, the names of its documents, the depth of a run."""

    field: FieldIndex
    doc_id: TextArray
    depth: int

    def run(self, documents: Judged, ranking: RankedDocuments) -> tuple[Judged, FloatArray]:
        """A graded ranking and its scores; ``documents`` has the same queries, with any documents."""
        row, place = np.nonzero(ranking.document >= 0)
        graded = documents.ranked_instead(row, self.doc_id[ranking.document[row, place]])
        return graded, ranking.score[row, place]

    def bm25(self, words: AnalysedQueries, model: BM25) -> RankedDocuments:
        """The best documents by BM25."""
        return retrieve(self.field, words, model, n_top=self.depth)

    def rm3(self, words: AnalysedQueries, first: RankedDocuments, model: BM25, feedback: Feedback) -> RankedDocuments:
        """The best documents for the queries expanded by ``first``."""
        return self.bm25(expanded_queries(self.field, words, first, feedback), model)


class FoldQueries(NamedTuple):
    """Queries of one role of a fold: what is known of them, and their words."""

    documents: Judged
    words: AnalysedQueries


class FirstStages(NamedTuple):
    """Graded documents of the test queries with their scores, by method, and the settings tried.

    The reference and ``rm3-candidates`` score the candidates; the others bring documents of their own.
    """

    runs: dict[str, tuple[Judged, FloatArray]]
    choices: pa.Table
    chosen: dict[str, tuple[BM25, Feedback | None]]


def bm25_settings(base: BM25, grid: Mapping[str, Sequence[float]]) -> list[BM25]:
    """The constants to try, the given ones first, so that they win ties."""
    tried = [replace(base, k1=k1, b=b) for k1, b in product(grid["k1"], grid["b"])]
    return list(dict.fromkeys([base, *tried]))


def feedback_settings(grid: Mapping[str, Sequence[float]]) -> list[Feedback]:
    """The settings of RM3 to try, from the least to the most feedback."""
    ordered = product(sorted(grid["weight"], reverse=True), sorted(grid["documents"]), sorted(grid["terms"]))
    return [Feedback(int(documents), int(terms), weight) for weight, documents, terms in ordered]


def first_stages(
    collection: Collection,
    settings: TextSettings,
    parts: Mapping[str, Judged],
    fold: str,
    *,
    grid: Mapping[str, Mapping[str, Sequence[float]]],
    measure: str = "ap",
    seed: int = 1,
) -> FirstStages:
    """Tune BM25 and then RM3 on the validation queries of a fold, and retrieve for its test queries.

    Parameters
    ----------
    parts : judged documents of the roles ``vali`` and ``test``, with names of documents
    grid : under ``bm25`` values of k1 and b, under ``feedback`` values of documents, terms and weight
    measure, seed : as for every choice, see `qdrank.learners.choose`
    """
    index = build_index(collection.documents, settings.analyser)
    retriever = Retriever(index.field(settings.searched), np.array(index.doc_id, dtype=object), settings.n_top)
    text = {query.query_id: query.text for query in collection.queries}
    vali, test = (
        FoldQueries(parts[role], analyse_queries(index, [text[name] for name in parts[role].query_id.tolist()]))
        for role in ("vali", "test")
    )
    models = bm25_settings(settings.bm25, grid["bm25"])
    model = _tuned(retriever, vali, ((m, retriever.bm25(vali.words, m)) for m in models), measure, seed)
    first = {role: retriever.bm25(queries.words, model.chosen) for role, queries in (("vali", vali), ("test", test))}
    kinds = feedback_settings(grid["feedback"])
    kind = _tuned(
        retriever, vali, ((f, retriever.rm3(vali.words, first["vali"], model.chosen, f)) for f in kinds), measure, seed
    )
    expanded = expanded_queries(retriever.field, test.words, first["test"], kind.chosen)
    runs = {"bm25-tuned": first["test"], "rm3": retriever.bm25(expanded, model.chosen)}
    rows = [
        *choice_rows(fold, "bm25-tuned", [f"k1={m.k1:g}, b={m.b:g}" for m in models], model, measure),
        *choice_rows(
            fold,
            "rm3",
            [f"documents={f.documents}, terms={f.terms}, weight={f.weight:g}" for f in kinds],
            kind,
            measure,
        ),
    ]
    graded = {name: retriever.run(test.documents, ranking) for name, ranking in runs.items()}
    graded[REFERENCE] = parts["test"], _candidate_scores(retriever, test, settings.bm25)
    graded[RM3_RERANKS] = parts["test"], _candidate_scores(retriever, test._replace(words=expanded), model.chosen)
    settled = {REFERENCE: (settings.bm25, None), "bm25-tuned": (model.chosen, None), "rm3": (model.chosen, kind.chosen)}
    settled[RM3_RERANKS] = settled["rm3"]
    return FirstStages(graded, pa.Table.from_pylist(rows), settled)


def _candidate_scores(retriever: Retriever, queries: FoldQueries, model: BM25) -> FloatArray:
    """Scores (n_documents,) of the candidates by BM25, whether or not it is among their features."""
    row_of = {name: row for row, name in enumerate(retriever.doc_id.tolist())}
    documents = np.array([row_of[name] for name in queries.documents.doc_id.tolist()], dtype=np.int64)
    return bm25_scores(retriever.field, queries.words, queries.documents.query_index, documents, model)


def _tuned(
    retriever: Retriever, vali: FoldQueries, tried: Iterator[tuple[Any, RankedDocuments]], measure: str, seed: int
) -> Choice[Any]:
    """The best setting on validation; each setting has its own run and so its own documents to measure."""

    def measured() -> Iterator[tuple[Any, FloatArray]]:
        for setting, ranking in tried:
            documents, scores = retriever.run(vali.documents, ranking)
            yield setting, ValidationQueries.of(documents, measure=measure, seed=seed).values(scores)

    return choose(measured())


def write_first_stages(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    measure: str,
    seed: int,
    log: Callable[..., object] = lambda *_: None,
) -> None:
    """Write scores of the test queries by method, the methods themselves, and the choices, to the paths in ``out``.

    Parameters
    ----------
    files : has the artifact ``judged`` of the collection
    options, settings : the collection, and the section ``text`` of the configuration (`qdrank.text.extract`)
    measure, seed : as for every choice, see `qdrank.learners.choose`
    """
    collection, text = read_collection(**options), text_settings(settings, seed)
    parts = load_roles(files["judged"], fold, ["vali", "test"], ["doc_id"])
    grid = {"bm25": {"k1": settings["tried_k1"], "b": settings["tried_b"]}, "feedback": settings["feedback"]}
    stages = first_stages(collection, text, parts, fold, grid=grid, measure=measure, seed=seed)
    write(out["choices"], "choices", stages.choices)
    for row in stages.choices.to_pylist():
        log("%s, %s: %s %.4f%s", row["method"], row["setting"], row["measure"], row["value"], " chosen" * row["chosen"])
    for name, (documents, scores) in stages.runs.items():
        write(out[name], "scores", scores_table(documents, scores))
        model, feedback = stages.chosen[name]
        searcher = Searcher(
            method=name,
            fold=fold,
            stemmer=text.analyser.stemmer,
            stop_words=text.analyser.stop_words,
            searched=text.searched,
            depth=text.n_top,
            **asdict(model),
            **({} if feedback is None else asdict(feedback)),
        )
        write(out[f"served_{name}"], "rankers", state_table(searcher))
