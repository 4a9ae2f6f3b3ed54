"""The global Ranking SVM: chosen on validation among as many lambdas as the methods have settings, kept and found again."""

import numpy as np
import pytest
from tests.studies.lin2011.lin_world import GRID, documents

from qdrank.measures.compute import average_precision
from qdrank.rankers.documents import FoldDocuments
from qdrank.store import read, write
from qdrank.studies.lin2011.methods import RANKSVM
from qdrank.studies.lin2011.singles import budget_lambdas, choose_single, load_singles, singles_table

LAMBDAS = budget_lambdas(GRID.lambdas, GRID.budget)


def test_validation_chooses_the_lambda():
    singles, choices = choose_single("fold1", documents(), LAMBDAS, tol=1e-6, seed=1)
    part = documents().parts["vali"]
    means = []
    for lam in LAMBDAS:
        scores = part.X.astype(float) @ documents().stored(singles.models[lam].w)
        means.append(average_precision(part.y, scores, part.offsets).mean())
    assert choices.column("value").to_pylist() == pytest.approx(means)
    assert singles.chosen == LAMBDAS[int(np.argmax(np.round(means, 12)))]
    assert [row["lam"] for row in choices.to_pylist() if row["chosen"]] == [singles.chosen]
    assert len(choices) == GRID.budget


def test_models_come_back_from_their_artifact(tmp_path):
    scaled = FoldDocuments(
        documents().parts, documents().mean, np.linspace(0, 2, documents().parts["train"].X.shape[1])
    )
    singles, choices = choose_single("fold1", scaled, [0.1, 0.01], tol=1e-6, seed=1)
    write(tmp_path / "m.parquet", "models", singles_table(singles, scaled))
    write(tmp_path / "c.parquet", "choices", choices)
    found = load_singles(read(tmp_path / "m.parquet", "models"), scaled)
    assert found.chosen == singles.chosen
    for lam, model in singles.models.items():
        # a feature that the learner does not see has no weight either way
        assert found.models[lam].w[1:] == pytest.approx(model.w[1:], rel=1e-12)
    assert set(read(tmp_path / "c.parquet", "choices").column("method").to_pylist()) == {RANKSVM}


def test_without_validation_queries_training_queries_choose():
    parts = dict(documents().parts)
    parts["vali"] = parts["vali"].take(np.zeros(0, dtype=np.int64))
    singles, _ = choose_single(
        "fold1", FoldDocuments(parts, documents().mean, documents().inverse), [0.1, 0.01], tol=1e-6, seed=1
    )
    assert singles.chosen in (0.1, 0.01)
