"""The job of a fold: rankers from plain to query-dependent, each with its control, and checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import Judged, load_judged
from qdrank.layout import FloatArray
from qdrank.queries.artifacts import load_queries
from qdrank.queries.recipe import load_document_vectors, topics_of
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.bilinear import Mixture, out_of_fold
from qdrank.rankers.documents import FeatureScale, FoldDocuments, fold_documents
from qdrank.store import read, write
from qdrank.studies.beyond.checks import Rejudging, checks_table, recurrence_table
from qdrank.studies.beyond.methods import CONTROL_METHODS, MEASURE, METHODS, SINGLE, TREES
from qdrank.studies.beyond.options import Options
from qdrank.studies.running import FoldRun, View
from qdrank.text.extract import read_collection, text_settings


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
