"""One fold of any study: every method is rankers to try; validation chooses, the test queries are scored, all is written.

A study declares its methods once, as `qdrank.studies.study.Method`: ``tries`` gives the rankers to try from the `FoldRun`,
with the study's options and the rankers made before, so that a method may build on another::

    Method("near", "nearest queries", BLUE, "o", tries=lambda run: run.options.nearest()),
    Method("random", "random queries", GREY, "o", control_of="near", refitted=True, tries=lambda run: run.options.random(run.seed)),
    Method("best", "the better", RED, "o", same_as=lambda run: run.best(["near", "far"])),

and its job is two calls::

    run = FoldRun(fold, {"": View.of(documents, vectors)}, options, measure="ap", seed=seed, refits=refits, log=log)
    run.run(METHODS).write(out)

Only here is anything tuned, fitted again, drawn as a control, or written:

- Rankers to try are fitted, but those that are fitted already; what they share is computed once (`QueryRanker.fit_each`,
  `predict_each`). The first of the best on validation is chosen, on the training queries if there are no others. Every setting with
  its value goes to ``choices``.
- A method that is ``refitted`` is fitted again with other seeds (`QueryRanker.again`), with the setting that was chosen.
- ``scores``, ``served`` and ``refits`` are files of each method that is no control, as `qdrank.studies.study` names them.
- ``values`` has a row for each test query of each fit of a control, and of each ranker that a method also shows, ``x`` being its
  setting. A study adds rows of its own with `FoldRun.measured`.

What does not fit is written by hand in the study: rankers with ``made``, rows with `measured`, and no further option here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa

from qdrank.datasets.folds import ROLES
from qdrank.datasets.judged import Judged, TextArray, refits_table
from qdrank.layout import FloatArray, IntArray
from qdrank.learners.choose import choice_rows, choose, fit_seed
from qdrank.measures.compute import measure
from qdrank.queries.recipe import Recipe
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.documents import DocumentView, FoldDocuments
from qdrank.rankers.served import ServedRanker, write_method
from qdrank.rankers.tuning import tune_rankers
from qdrank.store import write
from qdrank.store.schemas import shape_of
from qdrank.store.tables import no_rows, repeated
from qdrank.studies.study import Method


@dataclass(frozen=True, eq=False)
class View:
    """Documents of a fold as some methods see them, with the vectors of their queries.

    Attributes
    ----------
    parts : documents and vectors of train, vali and test
    documents, queries : how a stored ranker sees new documents and queries
    """

    parts: Mapping[str, Validation]
    documents: DocumentView
    queries: Recipe | None = None

    @classmethod
    def of(
        cls,
        documents: FoldDocuments,
        vectors: Callable[[Judged], FloatArray] = lambda part: np.zeros((part.n_queries, 0)),
        queries: Recipe | None = None,
        *,
        scaled: bool = True,
    ) -> Self:
        """Documents as learners see them, or as they are, with ``vectors`` of their queries, none if left out."""
        seen = {role: documents.seen(role) if scaled else documents.parts[role] for role in ROLES}
        parts = {role: (part, vectors(part)) for role, part in seen.items()}
        return cls(parts, documents.view(scaled=scaled), queries)

    @property
    def watched(self) -> Validation:
        """What decides: the validation queries, or the training queries where there are none."""
        return self.parts["vali"] if self.parts["vali"][0].n_queries else self.parts["train"]


@dataclass(eq=False)
class FoldRun:
    """The methods of a study on a fold.

    Attributes
    ----------
    views : the documents as methods see them, by name; "" for those that name none
    options : the study's own
    measure : decides on validation; ``measures`` are those of `values`, this one unless given
    made, scores : by method, the ranker chosen, and scores of the test documents by each of its fits
    validated, sees : by method, its value on validation, and the name of its view
    same : by method that is the same as another, that one
    choices, values : rows of the artifacts of these names
    """

    fold: str
    views: Mapping[str, View]
    options: Any
    measure: str
    seed: int
    refits: int = 1
    measures: Sequence[str] = ()
    log: Callable[[str], object] = lambda _: None
    made: dict[str, QueryRanker] = field(default_factory=dict)
    scores: dict[str, list[FloatArray]] = field(default_factory=dict)
    sees: dict[str, str] = field(default_factory=dict)
    choices: list[dict[str, Any]] = field(default_factory=list)
    values: list[pa.Table] = field(default_factory=list)
    validated: dict[str, float] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)

    def run(self, methods: Iterable[Method]) -> Self:
        """Tune and score the methods, in order."""
        for method in methods:
            if method.same_as:
                self._take(method, method.same_as(self))
            else:
                self._tune(method)
            if method.control_of:
                for fit, scores in enumerate(self.scores[method.name]):
                    self.measured(method.name, scores, fit=fit)
        return self

    def best(self, methods: Sequence[str]) -> str:
        """The first of the best methods on validation."""
        return choose((name, self.validated[name]) for name in methods).chosen

    def measured(
        self, method: str, scores: FloatArray, *, fit: int = 0, x: float | None = None, **columns: Sequence[Any]
    ) -> None:
        """Add rows to the values: scores (n_documents,) of the test documents, measured; ``columns`` (n_queries,) follow."""
        part, names = self.test, self.measures or [self.measure]
        of_queries = measure(names, part.y, scores, part.offsets, unranked=part.unranked)
        self.values.append(value_rows(self.fold, method, part.query_id, columns | of_queries, fit=fit, x=x))

    def write(self, out: Mapping[str, str], kind: type[ServedRanker] = ServedRanker, **served: Any) -> None:
        """Write what ``out`` has files for; stored rankers are of a ``kind``."""
        for method in (name for name in self.scores if name in out):
            view, (scores, *further) = self.views[self.sees[method]], self.scores[method]
            stored = kind(
                method=method,
                fold=self.fold,
                documents=view.documents,
                queries=view.queries,
                ranker=self.made[method],
                **served,
            )
            write_method(out[method], out[f"served_{method}"], stored, self.test, scores)
            if further:
                write(out[f"refits_{method}"], "refits", refits_table(self.test, further))
        if "choices" in out:
            write(out["choices"], "choices", pa.Table.from_pylist(self.choices, shape_of("choices").schema({})))
        if "values" in out:
            write(
                out["values"], "values", pa.concat_tables([no_rows("values"), *self.values], promote_options="default")
            )

    @property
    def test(self) -> Judged:
        """The test documents."""
        return next(iter(self.views.values())).parts["test"][0]

    def _take(self, method: Method, name: str) -> None:
        """What another method is."""
        self.same[method.name], self.made[method.name], self.sees[method.name] = name, self.made[name], self.sees[name]
        fits = max(len(self.scores[name]), self.refits if method.refitted else 1)
        self.scores[method.name] = (self.scores[name] * fits)[:fits]  # of what is fitted once, every fit is the same
        choice = choose([(name, self.validated[name])])
        self.choices += choice_rows(self.fold, method.name, [name], choice, self.measure)

    def _tune(self, method: Method) -> None:
        """Fit the rankers to try, choose one, and score the test documents by every fit of it."""
        assert method.tries is not None
        view, name = self.views[method.sees], method.name
        tried = method.tries(self)
        choice = tune_rankers(tried, view.parts["train"], view.parts["vali"], name=self.measure, seed=self.seed)
        texts = setting_texts([one.settings() for one in tried])
        self.choices += choice_rows(self.fold, name, texts, choice, self.measure)
        self.log(f"{name}: {texts[choice.place]} {self.measure} {choice.value:.4f} on validation")
        self.made[name], self.validated[name], self.sees[name] = choice.chosen, choice.value, method.sees
        shown = method.shown(self, choice.chosen)
        of = {id(ranker): x for x, ranker in shown.items()}
        for ranker, scores in choice.chosen.predict_each(shown.values(), *view.parts["test"]):
            self.measured(name, scores, x=of[id(ranker)])
        self.scores[name] = [choice.chosen.predict(*view.parts["test"])]
        for fit in range(1, self.refits if method.refitted else 1):
            again = choice.chosen.again(fit_seed(self.seed, fit), view.parts["train"], view.watched)
            self.scores[name].append(again.predict(*view.parts["test"]))


def value_rows(
    fold: str, method: str, query_id: TextArray, measured: Mapping[str, Any], *, fit: int = 0, x: float | None = None
) -> pa.Table:
    """Rows of the artifact ``values``: test queries with what was measured, (n_queries,) each."""
    n = len(query_id)
    rows = repeated(n, fold=fold, method=method, role="test") | {"fit": np.full(n, fit, dtype=np.int64)}
    rows |= {"x": pa.array([x] * n, pa.float64()), "query_id": pa.array(query_id, pa.string())}
    return pa.table({**rows, **measured})


def subsets(n: int, sizes: Sequence[int], repeats: int, seed: int) -> Iterator[tuple[int, int, IntArray]]:
    """Size, number of the repeat, and places of random subsets of ``n`` training queries; all come last, once, as size 0.

    The subsets of one repeat are nested: each larger one contains the smaller ones.
    """
    for repeat in range(repeats):
        order = np.random.default_rng([seed, repeat]).permutation(n)
        for size in sorted({size for size in sizes if size < n}):
            yield size, repeat, np.sort(order[:size]).astype(np.int64)
    yield 0, 0, np.arange(n, dtype=np.int64)


def setting_texts(tried: Sequence[Mapping[str, Any]]) -> list[str]:
    """Settings as texts: the parameters that are not the same in all of them."""
    names = dict.fromkeys(name for one in tried for name in one)
    differ = [name for name in names if len({one.get(name) for one in tried}) > 1]
    return [", ".join(_told(name, one[name]) for name in differ if name in one) for one in tried]


def _told(name: str, value: Any) -> str:
    """A parameter without the rankers that it is inside of."""
    return f"{name.rpartition('.')[2]}={f'{value:g}' if isinstance(value, float) else value}"
