"""A method fitted on all judged queries is what its learner makes of all documents, with the settings that folds chose."""

from pathlib import Path

import numpy as np
import pytest
from tests.rankers.query_world import world

from qdrank.cli import main
from qdrank.datasets.columns import topics_table
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.runs.run import judged_runs
from qdrank.datasets.runs.writing import write_run
from qdrank.datasets.scaling import column_moments, scaled
from qdrank.datasets.simulated.features import REFERENCE, two_runs, write_simulated
from qdrank.errors import InputError
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.learners.trees import LambdaMART
from qdrank.queries.recipe import DocumentVectors
from qdrank.queries.vectors import Standardiser, query_vectors
from qdrank.rankers.base import QueryRanker
from qdrank.rankers.documents import FoldDocuments, fold_documents
from qdrank.rankers.learned import LearnerRanker, WithQueryVectors
from qdrank.rankers.local_ranker import LocalRanker
from qdrank.rankers.one_model import LinearRanker
from qdrank.rankers.run_weights import FixedWeights
from qdrank.rankers.served import OneFeature, ServedRanker, ServedRuns, write_ranker
from qdrank.serving.ranking import fitted_on_all, load_ranker
from qdrank.store import write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A simulated data set with features far from [0, 1], so that learners standardise them."""
    files = {name: tmp_path / f"results/mine/{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(files, like="sim1", seed=3, train=30, vali=10, test=10, features=6)
    judged = load_judged(files["judged"])
    write(files["judged"], "judged", judged.with_features(judged.X * 7 + 3).to_table())
    (tmp_path / "results/config.yaml").write_text("training: {scale: auto}\n")
    return tmp_path / "results/mine"


def stored(data: Path, rankers: list[QueryRanker], *, recipe: object = None, study: str = "") -> None:
    """The rankers fitted on the folds in turn, as jobs leave them; those of a study in the units of the data."""
    judged = load_judged(data / "judged.parquet")
    for number, ranker in enumerate(rankers, 1):
        documents = fold_documents(judged, "fold1")
        train = documents.seen("train")
        vectors = np.zeros((train.n_queries, 0))
        if isinstance(recipe, DocumentVectors):
            part = documents.parts["train"]
            vectors = recipe.vectors(part.X, part.offsets)
        ranker.fit(train, vectors, (documents.seen("vali"), np.zeros((10, vectors.shape[1]))))
        view = documents.view(scaled=not study)
        fold = f"fold{number}"
        served = ServedRanker(method="m", study=study, fold=fold, documents=view, queries=recipe, ranker=ranker)
        write_ranker(data / fold / "served/m.parquet", served)


def whole(data: Path) -> tuple[Judged, np.ndarray]:
    """All documents, and their standardised features."""
    judged = load_judged(data / "judged.parquet")
    mean, deviation = column_moments(judged.X)
    return judged, scaled(judged.X, mean, 1 / deviation)


@pytest.mark.parametrize("study", ["", "geng2008"])
def test_a_linear_model_has_the_settings_of_most_folds_and_learns_from_all(data: Path, study: str) -> None:
    kinds = LinearRanker if study else lambda lam: LearnerRanker(learner=RankSVM(lam=lam))
    stored(data, [kinds(lam=0.5), kinds(lam=0.1), kinds(lam=0.1)], study=study)
    model, folds = fitted_on_all(data, "m")
    assert folds == ["fold2", "fold3"]
    judged, X = whole(data)
    direct = RankSVM(lam=0.1).fit(X, judged.y, judged.query)
    scores = model.score_many(judged.X, judged.offsets)
    np.testing.assert_allclose(scores, direct.predict(X), rtol=0, atol=1e-5 * np.ptp(scores))
    assert (model.fold, model.study) == ("all", "")


def test_rounds_are_those_of_the_fold_and_vectors_are_standardised_anew(data: Path) -> None:
    shape = {"rounds": 60, "leaves": 4, "min_leaf": 5, "patience": 5, "learning_rate": 0.3}
    recipe = DocumentVectors(
        reference=REFERENCE, top=5, pooling="mean", view="given", missing=False, own_columns=0, standardise=True,
        mean=np.zeros(6), deviation=np.ones(6),
    )  # fmt: skip
    stored(data, [WithQueryVectors(base=LearnerRanker(learner=LambdaMART(**shape)))], recipe=recipe)
    kept = load_ranker(data / "fold1", "m").ranker.base.learner.rounds_
    assert kept < 60
    model, _ = fitted_on_all(data, "m")
    judged, X = whole(data)
    pooled = query_vectors(judged.X, judged.offsets, judged.X[:, REFERENCE], top=5, pooling="mean")
    vectors = Standardiser().fit(pooled).transform(pooled)
    wide = np.hstack([X, vectors.astype(np.float32)[judged.query_index]])
    direct = LambdaMART(**shape | {"rounds": kept}).fit(wide, judged.y, judged.query)
    np.testing.assert_array_equal(model.score_many(judged.X, judged.offsets), direct.predict(wide))


def test_the_commands_take_the_file(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(data, [LearnerRanker(learner=RankSVM(lam=0.1))])
    model, rows = str(tmp_path / "mine.model"), tmp_path / "rows.txt"
    assert main(["fit", "--models", str(data), "--method", "m", "--output", model]) == 0
    assert "m, settings of fold1: learner.lam=0.1" in capsys.readouterr().err
    rows.write_text("0 qid:1 1:3 2:4 3:5 4:6 5:7 6:8\n0 qid:1 1:8 2:7 3:6 4:5 5:4 6:3\n")
    assert main(["rank", "--models", model, "--input", str(rows)]) == 0
    X = np.array([[3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3]])
    assert capsys.readouterr().out.split() == [repr(float(one)) for one in load_ranker(model).score(X)]
    assert main(["export", "--models", model, "--format", "onnx", "--output", str(tmp_path / "m.onnx")]) == 0
    assert main(["rank", "--models", model, "--method", "other", "--input", str(rows)]) == 2
    assert "this is the ranker m, not other" in capsys.readouterr().err


def test_a_fusion_is_fitted_on_all_judged_queries(data: Path, tmp_path: Path) -> None:
    runs, qrels = two_runs(queries=20, documents=25)
    made = judged_runs(runs, qrels, dict.fromkeys(qrels.by_query, "S1"), max_label=1)
    write(data / "judged.parquet", "judged", made.judged.to_table())
    write(data / "topics.parquet", "topics", topics_table(made.judged.query_id, made.judged.part))
    some = FixedWeights().fit(made.judged.take(np.arange(5)), np.zeros((5, 0)))
    view = FoldDocuments({"train": made.judged}, np.zeros(10), np.ones(10)).view()
    served = ServedRuns(method="w", fold="fold1", documents=view, ranker=some, tags=("first", "second"))
    write_ranker(data / "fold1/served/w.parquet", served)
    model = str(tmp_path / "fusion")
    assert main(["fit", "--models", str(data), "--method", "w", "--output", model]) == 0
    whole = FixedWeights().fit(made.judged, np.zeros((20, 0)))
    assert load_ranker(model).ranker.tuned.tolist() == whole.tuned.tolist()
    for one in runs:
        write_run(tmp_path / f"{one.tag}.run", one.query, one.doc, one.score, tag=one.tag)
    files = [str(tmp_path / f"{one.tag}.run") for one in runs]
    assert main(["fuse", *files, "--models", model, "--output", str(tmp_path / "fused.run")]) == 0


@pytest.mark.parametrize(
    ("ranker", "asked", "says"),
    [
        (LocalRanker(k=5), "m", "trains when a query arrives"),
        (OneFeature(column=0), "n", "unknown method 'n'"),
    ],
)
def test_what_cannot_be_shipped_is_said(data: Path, ranker: QueryRanker, asked: str, says: str) -> None:
    documents, vectors = world(d=6)
    ranker.fit(documents, vectors)
    view = FoldDocuments({"train": documents}, np.zeros(6), np.ones(6)).view()
    write_ranker(data / "fold1/served/m.parquet", ServedRanker(method="m", fold="fold1", documents=view, ranker=ranker))
    with pytest.raises(InputError, match=says):
        fitted_on_all(data, asked)
    with pytest.raises(InputError, match="no fold with rankers here"):
        fitted_on_all(data / "fold1", asked)
