"""Judgments of earlier rounds: a planted world, in which similar topics share documents, and the runs of TREC-COVID."""

from __future__ import annotations

import numpy as np

from qdrank.datasets.runs.model import Qrels, Run
from qdrank.studies.beyond.rounds import rounds, with_evidence

NAMES = ["ap", "ndcg@10/letor4"]


def world(n_topics=24, n_documents=60, seed=2):
    """Topics come in pairs with the same words; what was relevant to one before is relevant to the other now."""
    rng = np.random.default_rng(seed)
    texts = {f"t{t:02}": f"kind{t // 2} word{t % 3}" for t in range(n_topics)}
    before, after, run = [], [], []
    for t, topic in enumerate(texts):
        shared = np.random.default_rng(t // 2).permutation(n_documents)
        mine, other = (shared[:6], shared[6:12]) if t % 2 else (shared[6:12], shared[:6])
        before += [(topic, f"d{d}", 1) for d in mine]
        after += [(topic, f"d{d}", 1) for d in other]
        listed = [d for d in rng.permutation(n_documents) if d not in mine][:40]
        run += [(topic, f"d{d}", float(rng.normal() + 0.3 * (d in other))) for d in listed]
    columns = lambda rows: [np.array(one, dtype=object) for one in zip(*rows, strict=True)]  # noqa: E731
    judged = [Qrels(q, d, g.astype(np.int64)) for q, d, g in (columns(before), columns(after))]
    query, doc, score = columns(run)
    return texts, *judged, Run(query, doc, score.astype(float), "made")


def test_similar_topics_help_and_permuted_ones_do_not():
    texts, before, after, run = world()
    data = rounds(texts, before, after, [run])
    gain = {name: np.diff(values).mean() for name, values in with_evidence(data, run, NAMES).items()}
    assert min(gain.values()) > 0.2
    drawn = [np.diff(with_evidence(data.permuted(seed), run, NAMES)["ap"]).mean() for seed in range(3)]
    assert max(drawn) < 0.1


def test_no_topic_sees_its_own_judgments_nor_chooses_its_own_weight():
    """Other judgments of a topic, earlier or later ones, change nothing for it but what it is measured by."""
    texts, before, after, run = world()
    plain = with_evidence(rounds(texts, before, after, [run]), run, NAMES)["ap"]
    other = Qrels(before.query, np.where(before.query == "t03", "d59", before.doc), before.grade)
    changed = with_evidence(rounds(texts, other, after, [run]), run, NAMES)["ap"]
    assert changed[3, 0] == plain[3, 0]
    twin = [q for q in range(24) if q not in (2, 3)]
    assert np.allclose(plain[twin, 0], changed[twin, 0])


def test_the_runs_of_trec_covid_are_measured_as_nist_did(mirror):
    """Without evidence the values are those of the run; documents judged before are in no run."""
    from qdrank.datasets.runs.reading import read_qrels, read_run

    folder = mirror / "runs" / "trec-covid"
    run = read_run(folder / "round5" / "uw_base1.run.xz")
    before, after = (read_qrels(folder / f"qrels.covid-{name}.txt.xz") for name in ("round4-cumulative", "round5"))
    known = before.by_query
    assert not any(doc in known.get(topic, {}) for topic, doc in zip(run.query.tolist(), run.doc.tolist(), strict=True))
    texts = {topic: f"topic {topic}" for topic in run.place}
    values = with_evidence(rounds(texts, before, after, [run]), run, ["ndcg@20/linear"])["ndcg@20/linear"]
    assert values.shape == (50, 2)
    assert 0.3 < values[:, 0].mean() < 0.9
