"""Registered runs and LETOR slices of the mirror against the figures of their READMEs."""

import json
from pathlib import Path

import numpy as np
import pytest

from qdrank.datasets.fetching.fetch import fetch_all
from qdrank.datasets.importing import fetched_parts, import_features
from qdrank.datasets.judged import load_judged
from qdrank.datasets.runs.dataset import import_runs
from qdrank.datasets.runs.reading import read_all_runs, read_qrels
from qdrank.datasets.sources import load
from qdrank.evaluation.run_files import measured_runs
from qdrank.workflow.config_files import resolve
from qdrank.workflow.plan import plan

#: Rows and NDCG@10 of each first stage, by trec_eval, and grades, in 2019 and 2020.
RUNS = {
    "trec-dl-2019": (
        {
            "first-BM25": (4300, 0.5058),
            "first-BM25_RM3": (4300, 0.5216),
            "BM25_deepct": (8405, 0.5599),
            "BM25_docT5q": (8405, 0.6308),
            "first-SPLADE_P_P_ENSEMBLE_DISTIL": (4300, 0.7308),
            "ANCE": (8600, 0.6537),
            "first-D_BERT_KD_TASB": (4300, 0.7210),
            "first-OPEN_AI_ADA2": (4300, 0.7035),
            "first-REP_LLAMA": (8600, 0.7384),
        },
        [5158, 1601, 1804, 697],
    ),
    "trec-dl-2020": (
        {
            "first-BM25": (5400, 0.4796),
            "first-BM25_RM3": (5400, 0.4896),
            "BM25_deepct": (10611, 0.5603),
            "BM25_docT5q": (10617, 0.6228),
            "first-SPLADE_P_P_ENSEMBLE_DISTIL": (5400, 0.7197),
            "ANCE": (10800, 0.6447),
            "first-D_BERT_KD_TASB": (5400, 0.6854),
            "first-OPEN_AI_ADA2": (5400, 0.6759),
            "first-REP_LLAMA": (10800, 0.7195),
        },
        [7780, 1940, 1020, 646],
    ),
}
pytestmark = pytest.mark.mirror


def listed(name: str, folder: Path, mirror: Path) -> dict[str, str]:
    """Files of a data set as the workflow hands them to its reader."""
    paths = fetch_all(load()[name], folder / name, mirror=mirror)
    (folder / "list.json").write_text(json.dumps({file: str(path) for file, path in paths.items()}))
    return fetched_parts(name, folder / "list.json")


@pytest.mark.parametrize("name", RUNS)
def test_first_stages_have_their_published_quality(name: str, tmp_path: Path, mirror: Path) -> None:
    files, (published, grades) = listed(name, tmp_path, mirror), RUNS[name]
    qrels = read_qrels(files["qrels"])
    assert np.bincount(qrels.grade).tolist() == grades
    assert len(qrels.by_query) == load()[name].n_queries
    assert len(qrels.grade) == load()[name].n_judgments
    runs = [path for part, path in files.items() if part.startswith("runs")]
    measured = measured_runs(qrels, runs, ["ndcg@10/trec"])
    assert [Path(path).stem for path in runs] == [run.tag for run in read_all_runs(runs)] == list(published)
    for one, (rows, ndcg) in zip(measured, published.values(), strict=True):
        assert (one.n_documents, one.values["ndcg@10/trec"].mean()) == (rows, pytest.approx(ndcg, abs=6e-5))


def test_registered_runs_become_features(tmp_path: Path, mirror: Path) -> None:
    files = listed("trec-dl-2019", tmp_path, mirror)
    out = {name: tmp_path / name for name in ("judged", "columns", "topics")}
    import_runs(files, out, seed=1, max_label=3)
    judged = load_judged(out["judged"])
    assert (judged.n_queries, judged.X.shape[1], len(judged.folds)) == (43, 9 * 5, 5)


def test_four_parts_of_mslr_rotate(tmp_path: Path, mirror: Path) -> None:
    out = {name: tmp_path / name for name in ("judged", "columns", "topics")}
    import_features(
        listed("mslr-sample", tmp_path, mirror), out, reference=110, max_label=4, missing_values=False, seed=1
    )
    judged = load_judged(out["judged"])
    assert np.bincount(judged.y).tolist() == [7642, 3996, 1718, 199, 79]
    assert [int((judged.part == part).sum()) for part in ("S1", "S2", "S3", "S4")] == [43, 43, 18, 18]
    assert judged.X.shape == (13634, 136)
    zero = judged.query_id[np.bincount(judged.query_index, weights=judged.y) == 0]
    assert {"106", "286"} <= set(zero)
    planned = plan(resolve({"datasets": ["mslr-sample", "trec-dl-2020"], "mirror": str(mirror)})).datasets
    assert list(planned["mslr-sample"].folds) == judged.folds
    assert (planned["trec-dl-2020"].kinds, len(planned["trec-dl-2020"].folds)) == ({"letor", "runs"}, 5)
