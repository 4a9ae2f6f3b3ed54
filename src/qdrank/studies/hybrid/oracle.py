"""The oracle over the settings of the grid, beside oracles over as many random rankings that differ as much.

The oracle takes the best setting of each test query by the query's own judgments. Whoever chooses among G rankings by
the judgments gains, even if the rankings differ by noise alone. So the same is done with noise. *As much* means: as many
rankings; for every query and setting the same distance from the tuned ranking; and neighbouring settings with rankings as
alike as those of neighbouring weights.

Of the tuned scores s and a setting g whose weights are away from the tuned ones by c_g, (n_runs,), a noise ranking is that of

    s + t sum over runs of c_g,run e_run      "runs": a noise run e, normal deviates, in place of each run
    s + t e_g                                 "jitter": noise of its own for each setting
    s + t (change by g, shuffled)             "shuffled": what g changes, given to random documents of the query

t is found by bisection, for each query and setting, such that the distance from the tuned ranking equals that of g:
1 - rank-biased overlap (Webber et al. 2010; p = .9, cut at ten, scaled to 1 for equal lists), or 1 - the share of the first
ten in common. The claim uses "runs" and rank-biased overlap. The other forms, the other distance, and t halved and
doubled show how much the answer depends on that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from qdrank.datasets.judged import Judged
from qdrank.layout import FloatArray, IntArray
from qdrank.measures.compute import measure_ranked
from qdrank.measures.ranking import Judgements
from qdrank.rankers.run_scores import Norm, RunScores
from qdrank.studies.hybrid.methods import DECLARED, MEASURE, ORACLE, SENSITIVITY, Form
from qdrank.studies.hybrid.oracle_kernels import BY_RANK, SHARE, distances, first_places, matched_sizes
from qdrank.studies.running import FoldRun, value_rows

_KINDS = {"overlap by rank": BY_RANK, "first ten": SHARE}
_DEPTH, _P = 10, 0.9
_STEPS, _WIDEST = 12, 64.0
_PAIRS = 100


# ---- distances -----------------------------------------------------------------------------------------------------


def first_documents(scores: FloatArray) -> IntArray:
    """Places of each row's ten highest scores, descending, ties by place; (n_queries, 10) from (n_queries, n_places)."""
    return first_places(scores, min(_DEPTH, scores.shape[1]))


def distance(a: IntArray, b: IntArray, kind: str) -> FloatArray:
    """Distance of two lists of first documents, both (n_queries, depth): 0 if equal, 1 if disjoint; shape (n_queries,)."""
    return distances(a, b, _KINDS[kind], _weight(a.shape[1]))


def _weight(depth: int) -> FloatArray:
    weight = _P ** np.arange(depth)
    return np.asarray(weight / weight.sum())


# ---- noise ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Lists:
    """Documents of queries in rows of equal length.

    Attributes
    ----------
    at : (n_documents,) place of each document in the flattened rows
    shape : queries and the most documents of one
    """

    at: IntArray
    shape: tuple[int, int]

    @classmethod
    def of(cls, documents: Judged) -> Lists:
        """The documents of judged queries."""
        sizes = np.diff(documents.offsets)
        width = int(sizes.max(initial=1))
        inside = np.arange(documents.n_documents) - documents.offsets[documents.query_index]
        return cls(documents.query_index * width + inside, (len(sizes), width))

    def rows(self, values: FloatArray, empty: float) -> FloatArray:
        """Values of documents, (n_documents,), as rows, (n_queries, width)."""
        rows = np.full(self.shape[0] * self.shape[1], empty)
        rows[self.at] = values
        return rows.reshape(self.shape)

    def flat(self, rows: FloatArray) -> FloatArray:
        """The inverse of `rows`."""
        return np.asarray(rows.reshape(-1)[self.at])


def matched_size(base: FloatArray, change: FloatArray, wanted: FloatArray, kind: str) -> FloatArray:
    """For each query the size t of a change that moves the first ten of ``base + t change`` by ``wanted``; (n_queries,).

    ``base`` and ``change`` have the shape (n_queries, n_places), ``wanted`` (n_queries,). The distance is a step function
    of t, so the match is as close as twelve bisections of t, from 2^-6 to 2^6 times the spread of the scores, bring it.
    """
    first = first_documents(base)
    widest, weight = float(np.log2(_WIDEST)), _weight(first.shape[1])
    sizes = matched_sizes(base, change, first, wanted, _KINDS[kind], weight, widest, _STEPS)
    return np.where(wanted > 0, 2.0**sizes, 0.0)


def _changes(
    form: Form, settings: FloatArray, tuned: int, scores: FloatArray, lists: Lists, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """For each setting the direction of the noise, (n_queries, width), of unit spread."""
    n_runs, shape = settings.shape[1], lists.shape
    runs = rng.standard_normal((n_runs, *shape))
    shuffle = np.argsort(np.where(lists.rows(np.ones(len(lists.at)), 0.0) > 0, rng.random(shape), 2.0), axis=1)
    for g in range(len(settings)):
        away = settings[g] - settings[tuned]
        if form.noise == "runs":
            change = np.einsum("r,rqd->qd", away, runs)
        elif form.noise == "jitter":
            change = rng.standard_normal(shape)
        else:
            change = np.take_along_axis(lists.rows(np.einsum("nr,r->n", scores, away), 0.0), shuffle, axis=1)
        spread = change.std(axis=1, keepdims=True)
        yield np.where(spread > 0, change / np.where(spread > 0, spread, 1.0), 0.0)


# ---- oracles -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Oracles:
    """Test queries of a fold, fused at every setting.

    Attributes
    ----------
    documents : the test queries
    settings : (n_settings, n_runs)
    tuned : the setting that fixed weights have
    norm : how scores are made comparable
    """

    documents: Judged
    settings: FloatArray
    tuned: int
    norm: Norm

    def curves(self) -> FloatArray:
        """Measure of each test query at every setting, (n_queries, n_settings)."""
        return np.stack([self._value(scores) for scores in self._fused()], axis=1)

    def _fused(self) -> Iterator[FloatArray]:
        return (self._scores.at(setting[None])[:, 0] for setting in self.settings)

    @cached_property
    def _scores(self) -> RunScores:
        return RunScores.of(self.documents, self.norm)

    @cached_property
    def _lists(self) -> Lists:
        return Lists.of(self.documents)

    @cached_property
    def _base(self) -> FloatArray:
        """Tuned scores, (n_queries, width)."""
        return self._lists.rows(next(islice(self._fused(), self.tuned, None)), -np.inf)

    @cached_property
    def _real(self) -> list[IntArray]:
        """First documents at every setting."""
        return [first_documents(self._lists.rows(one, -np.inf)) for one in self._fused()]

    @cached_property
    def _judgements(self) -> Judgements:
        test = self.documents
        return Judgements(test.y, test.offsets, unranked=test.unranked)

    def _value(self, scores: FloatArray) -> FloatArray:
        return measure_ranked([MEASURE], self._judgements, scores)[MEASURE]

    def noise(self, form: Form, seed: list[int]) -> dict[str, FloatArray]:
        """Of each query: the best value among the noise rankings, and how far rankings are from one another."""
        lists, rng, base, real = self._lists, np.random.default_rng(seed), self._base, self._real
        scale = np.array([_spread(row[np.isfinite(row)]) for row in base])[:, None]
        first = real[self.tuned]
        made, best, target = [], np.full(lists.shape[0], -np.inf), np.zeros(lists.shape[0])
        for g, change in enumerate(_changes(form, self.settings, self.tuned, self._scores.scores, lists, rng)):
            wanted = distance(first, real[g], form.distance)
            size = form.factor * matched_size(base, scale * change, wanted, form.distance)
            noisy = base + size[:, None] * scale * change
            made.append(first_documents(noisy))
            best = np.maximum(best, self._value(lists.flat(noisy)))
            target += wanted / len(self.settings)
        return {
            "noise": best,
            "distance": target,
            "noise distance": np.mean([distance(first, one, form.distance) for one in made], axis=0),
            "between": _between(real, form.distance, rng),
            "noise between": _between(made, form.distance, rng),
        }


def _spread(scores: FloatArray) -> float:
    """Deviation of the scores of a list; 1 where they do not differ, or there are none."""
    return float(scores.std() if len(scores) else 0.0) or 1.0


def _between(lists: list[IntArray], kind: str, rng: np.random.Generator) -> FloatArray:
    """Mean distance of two of the rankings, over random pairs; (n_queries,)."""
    if len(lists) < 2:
        return np.zeros(len(lists[0]))
    pairs = [rng.permutation(len(lists))[:2] for _ in range(_PAIRS)]
    return np.asarray(np.mean([distance(lists[a], lists[b], kind) for a, b in pairs], axis=0))


def measure_oracles(run: FoldRun, oracles: Oracles, curves: FloatArray) -> None:
    """Add the values of the oracle, and the mean of the noise oracles over the draws; with the distances of their rankings."""
    best = curves.max(axis=1)
    for number, form in enumerate((DECLARED, *SENSITIVITY)):
        times = run.options.draws if form == DECLARED else 1
        made = [oracles.noise(form, [run.seed, number, draw]) for draw in range(times)]
        of = {name: np.mean([one[name] for one in made], axis=0) for name in made[0]}
        noise = np.where(
            np.isclose(of["noise"], best, rtol=0, atol=1e-12), best, of["noise"]
        )  # a mean of equals is rounded
        rows = {form.text: {MEASURE: noise, "distance": of["noise distance"], "between": of["noise between"]}}
        if form == DECLARED:
            rows[ORACLE] = {MEASURE: best, "distance": of["distance"], "between": of["between"]}
        run.values += [value_rows(run.fold, name, run.test.query_id, one) for name, one in rows.items()]
