"""Judgments of earlier rounds for the runs of a later one: what those of similar topics say about new documents.

The runs are residual: documents that a topic's earlier rounds judged are not in them, so that no topic can look its own
answers up. A run's z-scores are mixed with the grades that similar topics gave before (`NearestQueries`); the weight of
each topic is chosen on all others, with 0 among the choices. The control gives every list of judgments to another topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.layout import FloatArray
from qdrank.learners.choose import choose
from qdrank.measures.compute import measure
from qdrank.queries.others import other_queries
from qdrank.studies.beyond.retrievers import Known, NearestQueries, z_scores
from qdrank.text.analyser import Analyser
from qdrank.text.index import FieldIndex, count_matrix
from qdrank.text.past_queries import PastQueries

WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Rounds:
    """Topics with the judgments of earlier rounds, and those of the round to be measured.

    Attributes
    ----------
    topics : names, in the order of the rows of ``known``
    known : the topics as past queries; the text of the documents is not used
    place : number of each document
    after : judgments of the later round
    """

    topics: Sequence[str]
    known: Known
    place: Mapping[str, int]
    after: Qrels

    def permuted(self, seed: int) -> Rounds:
        """The same, with every list of earlier judgments given to another topic, along a random cycle."""
        judgments = self.known.past.judgments[other_queries(len(self.topics), seed)]
        return Rounds(self.topics, self.known.with_judgments(judgments), self.place, self.after)


def rounds(texts: Mapping[str, str], before: Qrels, after: Qrels, runs: Sequence[Run]) -> Rounds:
    """Put topics (name to text), judgments and runs together."""
    topics = list(texts)
    row = {topic: i for i, topic in enumerate(topics)}
    names = sorted({*before.doc.tolist(), *(doc for run in runs for doc in run.doc.tolist())})
    place = {name: i for i, name in enumerate(names)}
    used = [i for i, topic in enumerate(before.query.tolist()) if topic in row and before.grade[i] > 0]
    pairs = [row[before.query[i]] for i in used], [place[before.doc[i]] for i in used]
    judgments = sparse.csr_array((before.grade[used], pairs), shape=(len(topics), len(names)))
    words = count_matrix(Analyser().analyse(texts.values()))
    nothing = sparse.csr_array(sparse.coo_array(([], ([], [])), shape=(len(names), words.shape[1])))
    return Rounds(topics, Known(FieldIndex(nothing), PastQueries(words, judgments)), place, after)


def with_evidence(data: Rounds, run: Run, names: Sequence[str], *, power: float = 1.0) -> dict[str, FloatArray]:
    """Measures of a run with the judgments of similar topics, (n_topics, 2): without and with, in the order of the run."""
    of_topics = NearestQueries(power).scores(data.known, data.known.past_asked)
    row = {topic: i for i, topic in enumerate(data.topics)}
    values: dict[str, list[list[float]]] = {name: [] for name in names}
    for topic, q in run.place.items():
        rows = slice(run.offsets[q], run.offsets[q + 1])
        documents, judged = run.doc[rows].tolist(), data.after.by_query.get(topic, {})
        y = np.maximum([judged.get(name, 0) for name in documents], 0)
        left = [grade for name, grade in judged.items() if grade > 0 and name not in set(documents)]
        base = z_scores(run.score[None, rows])[0]
        extra = z_scores(of_topics[row[topic], [data.place[name] for name in documents]][None])[0]
        scores = np.stack([base + weight * extra for weight in WEIGHTS], axis=1)
        of = measure(names, y, scores, [0, len(y)], unranked=(left, [0, len(left)]))
        for name in names:
            values[name].append(of[name][0].tolist())
    return {name: _left_out(np.array(of_name), np.array(values[names[0]])) for name, of_name in values.items()}


def _left_out(values: FloatArray, deciding: FloatArray) -> FloatArray:
    """Values without evidence, and with the weight that is best for the other topics, from values (n_topics, n_weights)."""
    chosen = []
    for topic in range(len(values)):
        others = np.delete(deciding, topic, axis=0)
        chosen.append(choose((place, others[:, place]) for place in range(len(WEIGHTS))).chosen)
    return np.stack([values[:, 0], values[np.arange(len(values)), chosen]], axis=1)
