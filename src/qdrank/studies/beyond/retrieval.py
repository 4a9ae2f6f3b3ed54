"""Retrieval with past queries on a fold of a text set: what each method and each control finds for the test queries.

Training and validation queries are the past queries. Every setting is chosen on them, each asked without itself
(`qdrank.studies.beyond.choosing`); the test queries have no say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from qdrank.datasets.collections.forms import read_collection
from qdrank.datasets.collections.model import Collection
from qdrank.datasets.folds import roles
from qdrank.datasets.simulated.web import simulate_web
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import choice_rows
from qdrank.store import write
from qdrank.store.schemas import shape_of
from qdrank.store.tables import no_rows
from qdrank.studies.beyond.choosing import (
    Chooser,
    Grid,
    Searchable,
    answered,
    lexical,
    measured,
    searchable,
    text_parts,
)
from qdrank.studies.beyond.learned import learned_values
from qdrank.studies.beyond.methods import (
    BUDGETS,
    CONTROLLED,
    FORMS,
    HUB,
    LEARNING,
    RECOMMENDED,
    TEXT_MIX,
    TEXT_PARTS,
    WITHOUT_ENCODER,
    WITHOUT_NEAR,
)
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.retrievers import (
    Alike,
    DocumentTotals,
    JudgmentRidge,
    Known,
    Mixed,
    NearestQueries,
    OtherQuery,
    Retriever,
    similarities,
)
from qdrank.studies.running import value_rows
from qdrank.text.encoding import TextVectors, load_vectors
from qdrank.text.expansion import AskedQueries
from qdrank.text.extract import TextSettings, text_settings
from qdrank.text.retrieve import parts_of

#: Cosines of words and powers of them that `NearestQueries` tries.
_NEAR = tuple(NearestQueries(power, kind) for kind in ("words", "candidates", "vectors") for power in (1.0, 2.0, 4.0))
_NEAR_DENSE = tuple(NearestQueries(power, "dense") for power in (1.0, 2.0, 4.0))
_RIDGE = tuple(JudgmentRidge(lam) for lam in (10.0, 1.0))
_Log = Callable[..., object]


@dataclass(frozen=True, eq=False)
class FoldQueries:
    """Queries of a fold by number: the past ones and the test queries; ``names`` are those of the test queries."""

    data: Searchable
    past: IntArray
    test: IntArray
    names: NDArray[np.object_]

    @property
    def known(self) -> Known:
        """What is known before the test queries are asked."""
        return self.data.known(self.past)

    @property
    def asked(self) -> AskedQueries:
        """The test queries."""
        return self.data.asked(self.test, len(self.past))

    @property
    def recurring(self) -> FloatArray:
        """Share of each test query's relevant documents that are relevant to a past query."""
        before = np.asarray(self.data.judgments[self.past].sum(axis=0)) > 0
        relevant = self.data.judgments[self.test] > 0
        return np.asarray((relevant @ before.astype(np.float64)) / np.maximum(relevant.sum(axis=1), 1))


def in_form(judgments: sparse.csr_array, form: str) -> sparse.csr_array | None:
    """Judgments in a form of `retrieved.FORMS`; None if the form changes nothing."""
    rows = judgments.tocoo()
    lowest = {"grade-2": 2, "highest": judgments.data.max(initial=0)}.get(form, 1)
    keep = rows.data >= lowest
    if form == "no-hubs":
        answers = np.bincount(rows.col, minlength=judgments.shape[1])
        keep = answers[rows.col] <= HUB * np.count_nonzero(np.diff(judgments.indptr))
    if form != "all" and (keep.all() or not keep.any()):
        return None
    return sparse.csr_array((rows.data[keep], (rows.row[keep], rows.col[keep])), shape=judgments.shape)


def fold_queries(
    collection: Collection, settings: TextSettings, fold: str, form: str, encoded: TextVectors | None = None
) -> FoldQueries | None:
    """Queries of a fold that have a relevant document in a form of the judgments; None if it is another form's."""
    data = searchable(collection, settings, encoded)
    judgments = in_form(data.judgments, form)
    if judgments is None:
        return None
    parts = parts_of(collection, folds=settings.folds, seed=settings.seed)
    by_role = roles({part for part in parts if part is not None}, fold)
    relevant = np.diff(judgments.indptr) > 0
    past, test = (
        np.flatnonzero([part in wanted for part in parts] & relevant)
        for wanted in ((*by_role["train"], *by_role["vali"]), by_role["test"])
    )
    names = np.array([collection.queries[row].query_id for row in test.tolist()], dtype=object)
    return FoldQueries(replace(data, judgments=judgments), past, test, names)


def searched(like: str, **source: Any) -> Collection:
    """Text to search: a simulated web, drawn again with ``draw``, or what `read_collection` reads."""
    return simulate_web(**source["draw"]).collection if like == "simweb" else read_collection(like, **source)


def chosen_methods(chooser: Chooser) -> dict[str, Retriever]:
    """Every method with the settings chosen, by name; the last ones are mixes."""
    text = text_parts(chooser)
    words, dense = text[:3], text[3:]
    past = lexical(chooser, "past", chooser.grid.copies)
    near = chooser.best("nearest", _NEAR + _NEAR_DENSE if dense else _NEAR)
    ridge = chooser.best("ridge", _RIDGE)
    prior = (DocumentTotals(), DocumentTotals(power=0.5))
    methods: dict[str, Retriever] = dict(zip(TEXT_PARTS, text, strict=False))
    methods |= {"past-bm25": past[0], "past-rm3": past[1], "nearest": near, "ridge": ridge, "prior": prior[0]}
    for name, parts in (
        (TEXT_MIX, ()),
        ("prior-mix", prior),
        ("nearest-mix", (near,)),
        (RECOMMENDED, past),
        ("all-mix", (*past, near)),
    ):
        methods[name] = chooser.mix(name, (*text, *parts))
    if dense:
        methods |= {
            name: chooser.mix(name, parts)
            for name, parts in zip(WITHOUT_ENCODER, (words, (*words, *past)), strict=True)
        }
    return methods


def control_methods(
    chooser: Chooser, methods: Mapping[str, Retriever], refits: int
) -> Iterator[tuple[str, int, Known, Retriever]]:
    """Controls by name and number of the draw: what they know, and how they retrieve; their weights are chosen anew."""
    known, text = chooser.known, methods[TEXT_MIX]
    assert isinstance(text, Mixed)
    past = methods["past-bm25"], methods["past-rm3"]
    yield "closed", 0, known, chooser.mix("closed", (*text.parts, DocumentTotals(-1)))
    for fit in range(refits):
        seed = chooser.grid.seed + fit
        owners = np.random.default_rng(seed).permutation(len(known.past))
        mixed_up = Chooser(known.with_judgments(known.past.judgments[owners]), chooser.grid)
        mixed_up.queries = chooser.queries
        mixed_up.asked = hiding_lists(chooser.asked, owners)
        yield "permuted", fit, mixed_up.known, mixed_up.mix("permuted", (*text.parts, *past))
        other = OtherQuery(methods["nearest"], seed)
        yield "another", fit, known, chooser.mix("another", (*text.parts, other))


def hiding_lists(asked: AskedQueries, owners: IntArray) -> AskedQueries:
    """Past queries that see their own judgments nowhere, when past query i has been given the list of ``owners[i]``."""
    return replace(asked, hidden=asked.hidden.maximum(asked.hidden[:, owners]))


def near_duplicates(known: Known, asked: AskedQueries, near: float) -> AskedQueries:
    """The queries, with past queries hidden whose words, candidate lists or vectors by an encoder are at least this similar."""
    kinds: tuple[Alike, ...] = ("words", "candidates") if known.documents is None else ("words", "candidates", "dense")
    alike = np.maximum.reduce([similarities(kind, known, asked) for kind in kinds]) >= near - 1e-9
    return replace(asked, hidden=sparse.csr_array(alike.astype(np.int32)))


def values_of(
    fold: FoldQueries, retriever: Retriever, known: Known, asked: AskedQueries, measures: Sequence[str]
) -> dict[str, FloatArray]:
    """Measures of the test queries, (n_queries,) each."""
    grades, depth = fold.data.judgments[fold.test], BUDGETS[-1]
    blocks = [measured(measures, ranking, grades[rows]) for rows, ranking in answered(retriever, known, asked, depth)]
    return {name: np.concatenate([block[name] for block in blocks]) for name in measures}


def write_retrieval(
    files: Mapping[str, Any],
    out: Mapping[str, str],
    fold: str,
    form: str,
    *,
    source: Mapping[str, Any],
    text: Mapping[str, Any],
    retrieval: Mapping[str, Any],
    beyond: Mapping[str, Any],
    refits: int,
    measure: str,
    measures: list[str],
    log: _Log = lambda *_: None,
) -> None:
    """Write the values of the test queries by method and control, and the settings tried, to the paths in ``out``.

    Parameters
    ----------
    files : under ``vectors`` the artifact with an encoder's vectors, if there is one
    form : of the judgments, one of `retrieved.FORMS`
    source, text : the collection (`searched`), and the section ``text`` of the configuration (`qdrank.text.extract`)
    retrieval : keys of section ``beyond`` that retrieval uses
    beyond : the keys of `Options`, for near-duplicates and learners
    refits : how often random controls are drawn, and trees are fitted
    measure, measures : what settings are chosen by, and what is written
    """
    options = Options(**beyond)
    settings = text_settings(text, options.seed)
    encoded = load_vectors(files["vectors"]) if files.get("vectors") else None
    queries = fold_queries(searched(**source), settings, fold, form, encoded)
    tables, choices = [no_rows("values")], []
    if queries is None or len(queries.past) < 2 or not len(queries.test):
        log("%s leave nothing to compare", FORMS[form])
    else:
        keys: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in retrieval.items()}
        constants = {"k1": text["tried_k1"], "b": text["tried_b"]}
        grid = Grid.of(settings.bm25, constants, text["feedback"], measure=measure, seed=options.seed, **keys)
        chooser = Chooser(queries.known, grid)
        for method, fit, values, near in _every(form, queries, chooser, options, refits, measures):
            columns = {**values, "recurring": queries.recurring}
            tables.append(value_rows(fold, method, queries.names, columns, fit=fit, x=near))
        for method, (tried, choice) in chooser.tried.items():
            choices += choice_rows(fold, method, tried, choice, measure)
    write(out["values"], "values", pa.concat_tables(tables, promote_options="default"))
    write(out["choices"], "choices", pa.Table.from_pylist(choices, shape_of("choices").schema({})))


_Values = Iterator[tuple[str, int, dict[str, FloatArray], float | None]]
"""Method or control, number of the draw or fit, values of the test queries, threshold of near-duplicates."""


def _every(
    form: str, queries: FoldQueries, chooser: Chooser, options: Options, refits: int, measures: Sequence[str]
) -> _Values:
    """Every method; the main mixes also with near-duplicates of the query hidden; random controls and learners."""
    known, methods, asked = chooser.known, chosen_methods(chooser), queries.asked
    for name, one in methods.items():
        yield name, 0, values_of(queries, one, known, asked, measures), None
    for threshold in options.near:
        rest = near_duplicates(known, asked, threshold)
        for name in WITHOUT_NEAR:
            yield name, 0, values_of(queries, methods[name], known, rest, measures), threshold
    if form in CONTROLLED:
        for name, fit, seen, one in control_methods(chooser, methods, refits):
            yield name, fit, values_of(queries, one, seen, asked, measures), None
    if form in LEARNING:
        grades = queries.data.judgments[queries.test]
        for name, fit, values in learned_values(
            chooser, methods, asked, grades, options=options, refits=refits, measures=measures
        ):
            yield name, fit, values, None
