"""Runs against pooled judgments: trec_eval's definitions, written out for one query at a time."""

import csv
import lzma
import subprocess
from math import log2
from shutil import which

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import InputError
from qdrank.evaluation.run_files import judged_run

DOCS = [f"d{i}" for i in range(9)]
NAMES = ["ap/trec", "rr/trec", "p@5/trec", "ndcg@5/trec", "ndcg/trec", "r@3/trec", "success@2/trec", "judged@4/trec"]
NAMES += ["bpref/trec", "bpref(rel=2)/trec", "rbp(p=0.5)@4/trec", "ap(rel=2)@4/trec", "rr@2/trec"]
JUDGED_ONLY = ["ap(judged_only=True)/trec", "ndcg(judged_only=True)@3/trec", "p(judged_only=True)@2/trec"]
NAMES += JUDGED_ONLY


def bpref(levels, judged, rel):
    relevant, others = (
        sum(grade >= rel for grade in judged.values()),
        sum(0 <= grade < rel for grade in judged.values()),
    )
    total, above = 0.0, 0
    for level in levels:
        if level >= rel:
            total += 1 - (min(above, relevant) / min(others, relevant) if above else 0)
        elif level >= 0:
            above += 1
    return total / relevant if relevant else 0.0


def by_trec_eval(judged, scored):
    ranked = sorted(scored, key=lambda doc: (np.float32(scored[doc]), doc), reverse=True)
    levels = [judged.get(doc, -1) for doc in ranked]
    values = {**measured(levels, judged), "bpref/trec": bpref(levels, judged, 1)}
    values["bpref(rel=2)/trec"] = bpref(levels, judged, 2)
    only = measured([level for level in levels if level >= 0], judged)
    return values | {name: only[name.replace("(judged_only=True)", "")] for name in JUDGED_ONLY}


def measured(levels, judged):
    gains = [max(level, 0) for level in levels]
    ideal = sorted((grade for grade in judged.values() if grade > 0), reverse=True)
    relevant = [j for j, gain in enumerate(gains, 1) if gain > 0]
    highly = [j for j, gain in enumerate(gains, 1) if gain > 1]

    def dcg(grades):
        return sum(gain / log2(j + 1) for j, gain in enumerate(grades, 1))

    def ap(places, total, k):
        return sum(i / j for i, j in enumerate(places, 1) if j <= k) / total if total else 0.0

    return {
        "ap/trec": ap(relevant, len(ideal), 99),
        "ap(rel=2)@4/trec": ap(highly, sum(grade > 1 for grade in ideal), 4),
        "rr/trec": 1 / relevant[0] if relevant else 0.0,
        "rr@2/trec": 1 / relevant[0] if relevant and relevant[0] <= 2 else 0.0,
        "p@5/trec": sum(j <= 5 for j in relevant) / 5,
        "p@2/trec": sum(j <= 2 for j in relevant) / 2,
        "r@3/trec": sum(j <= 3 for j in relevant) / len(ideal) if ideal else 0.0,
        "success@2/trec": float(any(j <= 2 for j in relevant)),
        "judged@4/trec": sum(level >= 0 for level in levels[:4]) / len(levels[:4]) if levels else 0.0,
        "rbp(p=0.5)@4/trec": sum(0.5**j for j in relevant if j <= 4),
        "ndcg@5/trec": dcg(gains[:5]) / dcg(ideal[:5]) if ideal else 0.0,
        "ndcg@3/trec": dcg(gains[:3]) / dcg(ideal[:3]) if ideal else 0.0,
        "ndcg/trec": dcg(gains) / dcg(ideal) if ideal else 0.0,
    }


def arrays(by_query):
    rows = [(query, doc, value) for query, docs in by_query.items() for doc, value in docs.items()]
    return [np.array(column, dtype=object) for column in zip(*rows, strict=True)]


def run_of(scored):
    query, doc, score = arrays(scored)
    return Run(query, doc, score.astype(float), "t")


def qrels_of(judged):
    query, doc, grade = arrays(judged)
    return Qrels(query, doc, grade.astype(int))


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 3), min_size=1), min_size=1
    ),
    st.dictionaries(
        st.sampled_from("abcx"), st.dictionaries(st.sampled_from(DOCS), st.integers(0, 3), min_size=1), min_size=1
    ),
)
def test_a_run_is_measured_as_trec_eval_does(judged, scored):
    if not judged.keys() & scored.keys():
        with pytest.raises(InputError, match="none of the judged queries"):
            judged_run(run_of(scored), qrels_of(judged))
        return
    if not {doc for docs in judged.values() for doc in docs} & {doc for docs in scored.values() for doc in docs}:
        with pytest.raises(InputError, match="none of the judged documents"):
            judged_run(run_of(scored), qrels_of(judged))
        return
    joined = judged_run(run_of(scored), qrels_of(judged))
    queries, values = joined.query_id, joined.measured(NAMES)
    assert queries == list(judged)
    for i, query in enumerate(queries):
        expected = by_trec_eval(judged[query], scored.get(query, {}))
        assert {name: values[name][i] for name in NAMES} == pytest.approx({n: expected[n] for n in NAMES}, abs=1e-12)


@pytest.mark.mirror
def test_nists_figures_for_the_runs_of_trec_covid(mirror):
    """NDCG@20 and P@20 of round 5, as NIST's leaderboard prints them."""
    folder = mirror / "runs" / "trec-covid"
    qrels = read_qrels(folder / "qrels.covid-round5.txt.xz")
    with (folder / "round5" / "leaderboard.csv").open() as file:
        leaderboard = list(csv.DictReader(file))
    assert len(leaderboard) == 16
    for row in leaderboard:
        run = read_run(folder / "round5" / f"{row['tag']}.run.xz")
        names = ["ndcg@20/trec", "p@20/trec", "rbp(p=0.5)/trec", "rbp(rel=2,p=0.5)/trec"]
        ndcg, precision, *biased = (column.mean() for column in judged_run(run, qrels).measured(names).values())
        ours = [f"{ndcg:.4f}", f"{precision:.4f}", f"{sum(biased) / 2:.4f}"]  # NIST's gain in RBP is half the grade
        assert ours == [row["ndcg@20"], row["P@20"], row["rbp_p5"]]


@pytest.mark.mirror
@pytest.mark.skipif(not which("trec_eval"), reason="trec_eval is not installed here")
def test_trec_eval_gives_the_same_to_the_printed_digit(mirror, tmp_path):
    folder = mirror / "runs" / "trec-covid"
    qrels_file, run_file = tmp_path / "qrels", tmp_path / "run"
    qrels_file.write_bytes(lzma.decompress((folder / "qrels.covid-round5.txt.xz").read_bytes()))
    run_file.write_bytes(lzma.decompress((folder / "round5" / "uw_base1.run.xz").read_bytes()))
    theirs = {"map": "ap", "recip_rank": "rr", "bpref": "bpref", "P_20": "p@20", "ndcg_cut_20": "ndcg@20"}
    asked = [word for name in ("map", "recip_rank", "bpref", "P.20", "ndcg_cut.20") for word in ("-m", name)]
    done = subprocess.run(["trec_eval", "-c", *asked, qrels_file, run_file], capture_output=True, text=True, check=True)
    printed = {line.split()[0]: line.split()[2] for line in done.stdout.splitlines()}
    for convention in ("trec", "trec_double"):
        names = {f"{own}/{convention}": name for name, own in theirs.items()}
        values = judged_run(read_run(run_file), read_qrels(qrels_file)).measured(names)
        ours = {names[name]: f"{column.mean():.4f}" for name, column in values.items()}
        if ours == {name: printed[name] for name in theirs}:
            return
    raise AssertionError(printed)
