"""Learners on the retrievers' columns: the best documents of a mix, ranked again by Ranking SVM or LambdaMART.

Exploratory. In a collection where every document was gathered for some query, a document that no past query has is likely
to be relevant to the new one, and trees learn it. Where scores may only rise with what judgments say, they cannot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy import sparse

from qdrank.layout import FloatArray
from qdrank.learners.refits import fit_seed
from qdrank.rankers.base import QueryRanker, Validation
from qdrank.rankers.one_model import without_choice
from qdrank.rankers.tuning import tune_rankers
from qdrank.studies.beyond.choosing import Chooser, measured
from qdrank.studies.beyond.methods import MEASURE
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.reranking import Listed, divided, listed
from qdrank.studies.beyond.retrieved import BUDGETS, LEARNED, RECOMMENDED, TEXT_MIX
from qdrank.studies.beyond.retrievers import Mixed, Retriever
from qdrank.studies.running import setting_texts
from qdrank.text.past_queries import AskedQueries

#: Retrievers whose z-scores are the columns; from the sixth on they are judgments.
PARTS = ("text-bm25", "text-rm3", "text-lsa", "past-bm25", "past-rm3", "nearest", "ridge", "prior")
_JUDGMENTS = PARTS.index("nearest")
_WIDTH = {"learned-text": 3, "learned-past": _JUDGMENTS}
#: Documents that are ranked again, past queries to learn from, and the share of them that settings are chosen on.
CANDIDATES, PAST, HELD_OUT = BUDGETS[0], 500, 0.25


def tried(name: str, options: Options) -> list[QueryRanker]:
    """Settings of a learner, the same number for each."""
    if name == "learned-linear":
        return options.linear()
    judgments = tuple(int(column >= _JUDGMENTS) for column in range(len(PARTS)))
    return options.trees(judgments if name == "learned-monotone" else ())


def learned_values(
    chooser: Chooser,
    methods: Mapping[str, Retriever],
    asked: AskedQueries,
    grades: sparse.csr_array,
    *,
    options: Options,
    refits: int,
    measures: Sequence[str],
) -> Iterator[tuple[str, int, dict[str, FloatArray]]]:
    """Learner, number of the fit, and measures of the queries asked, (n_queries,) each; ``grades`` are all of theirs.

    Trees are fitted ``refits`` times with other seeds, as many trees as the first fit has; Ranking SVM has one solution.
    """
    known, parts = chooser.known, [methods[name] for name in PARTS]
    drawn = np.random.default_rng(options.seed).permutation(len(known.past))[:PAST]
    rows = [np.sort(drawn)[part] for part in divided(len(drawn), HELD_OUT, options.seed)]
    mixes = [mix for first in (TEXT_MIX, RECOMMENDED) if isinstance(mix := methods[first], Mixed)]
    who = [*(known.past_asked.take(some) for some in rows), asked]
    of_all = [listed(known, some, mixes, parts, candidates=CANDIDATES, n_top=BUDGETS[-1]) for some in who]
    for on_text, (*past, test) in zip((True, False), zip(*of_all, strict=True), strict=True):
        for name in (name for name in LEARNED if (name == "learned-text") == on_text):
            columns = range(_WIDTH.get(name, len(PARTS)))
            train, vali = (seen(one, known.past.judgments[some], columns) for one, some in zip(past, rows, strict=True))
            documents = test.judged(grades, columns)  # their grades are not looked at
            settings = tried(name, options)
            choice = tune_rankers(settings, train, vali, name=MEASURE, seed=options.seed)
            chooser.tried[name] = setting_texts([one.settings() for one in settings]), choice
            for fit in range(refits if choice.chosen.SEEDS else 1):
                ranker = choice.chosen
                if fit:
                    ranker = without_choice(ranker.redrawn(fit_seed(options.seed, fit)), ranker).fit(*train)
                scores = ranker.predict(documents, np.zeros((documents.n_queries, 0)))
                yield name, fit, measured(measures, test.reordered(scores), grades)


def seen(one: Listed, grades: sparse.csr_array, columns: Sequence[int]) -> Validation:
    """Queries to learn from with some of the columns; those without a candidate are left out."""
    rows = one.answered
    documents = one.take(rows).judged(grades[rows], columns)
    return documents, np.zeros((documents.n_queries, 0))
