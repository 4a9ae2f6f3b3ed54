"""Serving gives, to the last bit, the scores that a study writes; its lookups are those of the study, ties included."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import qdrank
from qdrank.cli import main
from qdrank.commands.rank import whole_queries
from qdrank.datasets.judged import Judged, load_judged
from qdrank.datasets.letor import read_letor
from qdrank.datasets.runs.reading import read_run
from qdrank.datasets.simulated.features import REFERENCE, write_simulated
from qdrank.errors import InputError
from qdrank.learners.parameters import fitted_names
from qdrank.learners.ranksvm.estimator import RankSVM
from qdrank.queries.graph import GraphOptions, metric_table, neighbours_table
from qdrank.queries.recipe import VectorOptions, describe_queries, load_queries, scale_table, topics_of
from qdrank.queries.sizes import Setting, neighbour_count
from qdrank.rankers.one_model import LinearRanker
from qdrank.serving.ranking import load_ranker
from qdrank.store import read, write
from qdrank.studies.geng2008 import STUDY
from qdrank.studies.geng2008.fold import write_fold
from qdrank.studies.geng2008.global_models import write_global
from qdrank.studies.geng2008.local_models import train_local
from qdrank.studies.geng2008.methods import LOCAL, Options, scored
from qdrank.studies.geng2008.offline import choose_offline
from qdrank.workflow.recorded import recorded_text

SIZES = {"train": 30, "vali": 10, "test": 10, "features": 8}
QUERIES = {"top": 20, "pooling": "mean", "view": "given", "query_columns": False, "scale": "zscore"}
GENG = {"ks": [0.2, 1], "lam": 0.01, "choose": "validation", "k": 0.27, "candidates": [0.27, 0.5]}
GENG |= {"lambdas": [0.1, 1 / 30], "controls": []}


class Study:
    """A whole study on tiny data, in a folder as the workflow leaves it."""

    def __init__(self, folder: Path, *, scale="auto", metric="euclidean", largest=None, missing=False, **changes):
        self.folder = folder / "fold1"
        files = {name: folder / f"{name}.parquet" for name in ("judged", "columns", "topics")}
        write_simulated(files, like="sim1", seed=3, **SIZES)
        self.topics, judged = read(files["topics"], "topics"), load_judged(files["judged"])
        if missing:
            rng = np.random.default_rng(1)
            judged = judged.with_features(np.where(rng.random(judged.X.shape) < 0.1, np.nan, judged.X))
            files["judged"] = folder / "incomplete.parquet"
            write(files["judged"], "judged", judged.to_table())
        self.test = judged.of_role("fold1", "test")
        self.options = VectorOptions(**{name: changes.get(name, value) for name, value in QUERIES.items()})
        self.geng = {name: changes.get(name, value) for name, value in GENG.items()}
        table, scaler = describe_queries(judged, self.topics, REFERENCE, "fold1", self.options)
        queries = load_queries(self.made("queries", "queries", table))
        graph = GraphOptions(metric=metric, largest=largest, search="brute")
        near, fitted = neighbours_table(queries, graph, judged.of_role("fold1", "train"))
        self.made("scale", "fitted", scale_table(scaler))
        self.made("metric", "fitted", metric_table(metric, fitted))
        self.made("neighbours", "neighbours", near)
        self.solve(files, scale, metric)

    def made(self, name, shape, table):
        write(self.folder / f"{name}.parquet", shape, table)
        return self.folder / f"{name}.parquet"

    def solve(self, files, scale, metric):
        """All that the workflow does with the queries."""
        names = ("queries", "scale", "metric", "neighbours", "offline", "classes", "shard", "choices", "values")
        out = {name: self.folder / f"{name}.parquet" for name in names}
        out |= {name: self.folder / f"models/{name}.parquet" for name in ("global", "local")}
        fold, training = "fold1", {"scale": scale, "tol": 1e-6, "seed": 1}
        files, silent = {**files, **out, "whole": out["global"], "shards": [out["shard"]]}, lambda *_: None
        lambdas, made = [0.1, 0.01], {"classes": out["classes"], "models": out["global"]}
        write_global(files, made, fold, lambdas=lambdas, starts=1, **training, log=silent)
        train_local(files, out["shard"], fold, (0, 1), geng=self.geng, block=64, **training, log=silent)
        choose_offline(files, out["offline"], fold, geng=self.geng)
        for method in scored(Options(**self.geng)):
            out[method], out[f"served_{method}"] = (
                self.folder / f"{of}/{method}.parquet" for of in ("scores", "served")
            )
        options = {"geng": self.geng, "measure": "mean_ndcg/geng", "queries": vars(self.options), "metric": metric}
        self.run = write_fold(files, out, fold, **options, starts=1, refits=1, **training, log=silent)
        self.models = self.run.options

    def scores(self, method, setting=None):
        name = STUDY.served.get(method, method)
        if setting is None:
            return self.run.scores[name][0]
        one = self.models.of_neighbours(name, setting) if name in LOCAL else self.models.of_all(name, setting.lam)
        return one.predict(self.models.documents.parts["test"], np.zeros((self.test.n_queries, 0)))

    def own(self):
        return topics_of(self.topics, self.test.query_id.tolist())[0] if self.options.query_columns else None


def setting_of(ranker):
    inner = ranker.ranker
    if isinstance(inner, LinearRanker):
        return Setting(SIZES["train"], inner.lam)
    return Setting(neighbour_count(inner.k, SIZES["train"]), inner.lam)


READY, SERVED = ("single", "offline1", "offline2"), ("single", "offline1", "offline2", "online")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Study:
    return Study(tmp_path_factory.mktemp("tiny"))


VARIANTS = {
    "as-given": {},
    "minmax": {"scale": "minmax", "view": "minmax", "pooling": "mean+std+max", "metric": "cosine"},
    "zscore": {"scale": "zscore", "metric": "mahalanobis"},
    "learned": {"metric": "learned", "missing": True},
    "missing": {"missing": True, "metric": "manhattan"},
    "own-columns": {"query_columns": True, "largest": 16, "ks": [0.2]},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_scores_are_those_of_the_study(variant: str, tmp_path: Path) -> None:
    study = Study(tmp_path, **VARIANTS[variant])
    for method in READY:
        ranker = load_ranker(study.folder, method)
        expected = study.scores(method)
        assert np.array_equal(ranker.score_many(study.test.X, study.test.offsets, query_columns=study.own()), expected)
        own = study.own()
        for i in (0, 3, 9):
            rows = slice(*study.test.offsets[i : i + 2])
            assert np.array_equal(
                ranker.score(study.test.X[rows], query_columns=own if own is None else own[i]), expected[rows]
            )


@pytest.mark.parametrize("variant", ["as-given", "minmax", "zscore", "own-columns"])
def test_online_scores_are_those_of_the_study_to_the_tolerance_of_training(variant: str, tmp_path: Path) -> None:
    """Two models within a gap of F are at most 2 sqrt(2 gap F / lam) apart."""
    study = Study(tmp_path, **VARIANTS[variant])
    ranker, expected = load_ranker(study.folder, "online"), study.scores("online")
    scores = ranker.score_many(study.test.X, study.test.offsets, query_columns=study.own())
    inner = ranker.ranker
    scaled = np.linalg.norm((study.test.X - inner.mean) * inner.inverse, axis=1)
    bound = 2 * np.sqrt(2e-6 / inner.lam) * scaled.max()
    assert np.abs(scores - expected).max() <= bound
    assert np.abs(scores - expected).max() <= 2e-3 * np.ptp(expected)
    for query in range(3):  # alone as in company
        rows, own = slice(*study.test.offsets[query : query + 2]), study.own()
        assert np.array_equal(
            ranker.score(study.test.X[rows], query_columns=own if own is None else own[query]), scores[rows]
        )


def test_online_models_are_certified_and_of_any_setting(tiny: Study) -> None:
    ranker = load_ranker(tiny.folder, "online", k=7, lam=0.02)
    vectors, inner = ranker.query_vectors(tiny.test.X, tiny.test.offsets), ranker.ranker
    for vector in vectors[:4]:
        model = inner.trained(vector)
        assert model.gaps.max() <= 1e-6
        near = np.sort(np.argsort(((inner.vectors_ - vector) ** 2).sum(axis=1), kind="stable")[:7])
        train = tiny.models.documents.parts["train"].take(near)
        scaled = (train.X - inner.mean) * inner.inverse
        peer = RankSVM(lam=0.02, tol=1e-10).fit(scaled, train.y, train.query)
        np.testing.assert_allclose(model.W[0], peer.coef_, atol=2 * np.sqrt(2e-6 / 0.02))


def test_online_says_what_it_lacks(tiny: Study, tmp_path: Path) -> None:
    alone = tmp_path / "mine" / "fold1"
    shutil.copytree(tiny.folder, alone)
    with pytest.raises(InputError, match="training documents, which are missing"):
        load_ranker(alone, "online")
    others = {name: alone.parent / f"{name}.parquet" for name in ("judged", "columns", "topics")}
    write_simulated(others, like="sim1", seed=4, **SIZES | {"train": 29})
    with pytest.raises(InputError, match="not the training queries that the ranker was fitted on"):
        load_ranker(alone, "online")


def letor_rows(judged: Judged, *, n_features: int | None = None) -> list[str]:
    X = judged.X[:, :n_features].tolist()
    query = judged.query.tolist()
    return [
        f"0 qid:{query[i]} {' '.join(f'{j + 1}:{value!r}' for j, value in enumerate(row))} #docid = {judged.doc_id[i]}\n"
        for i, row in enumerate(X)
    ]


@pytest.fixture
def new(tiny: Study, tmp_path: Path) -> Path:
    path = tmp_path / "new.txt"
    path.write_text("".join(letor_rows(tiny.test)))
    return path


def rank(tiny: Study, new: Path, *arguments: object) -> int:
    return main(["rank", "--models", str(tiny.folder), "--input", str(new), *map(str, arguments)])


def test_a_run_is_ranked_and_names_its_documents(tiny: Study, new: Path, tmp_path: Path) -> None:
    assert rank(tiny, new, "--format", "trec", "--output", tmp_path / "run.txt") == 0
    run = read_run(tmp_path / "run.txt")
    expected = dict(zip(zip(tiny.test.query, tiny.test.doc_id, strict=True), tiny.scores("offline1"), strict=True))
    assert dict(zip(zip(run.query, run.doc, strict=True), run.score, strict=True)) == expected
    assert run.tag == "qdrank-knn-offline1"
    same = run.query[1:] == run.query[:-1]
    assert (run.score[1:] <= run.score[:-1])[same].all()


def test_the_score_may_take_the_place_of_the_label(tiny: Study, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rank(tiny, new, "--format", "letor", "--method", "single") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [float(row[0]) for row in rows] == tiny.scores("single").tolist()
    assert [row[1] for row in rows] == [f"qid:{query}" for query in tiny.test.query]
    assert [row[-1] for row in rows] == tiny.test.doc_id.tolist()


def test_other_trained_settings_can_be_asked_for(tiny: Study, new: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for setting in tiny.models.local.settings("neighbours"):
        ranker = load_ranker(tiny.folder, "offline1", k=setting.k if setting.k > 1 else 1.5, lam=setting.lam)
        assert setting_of(ranker) == setting
        assert np.array_equal(ranker.score_many(tiny.test.X, tiny.test.offsets), tiny.scores("offline1", setting))
    single = load_ranker(tiny.folder, "single", lam=0.1)
    assert np.array_equal(single.score_many(tiny.test.X, tiny.test.offsets), tiny.scores("single", setting_of(single)))
    with pytest.raises(InputError, match=r"no models were trained with lambda=0.3"):
        load_ranker(tiny.folder, "single", lam=0.3)
    assert rank(tiny, new, "--method", "offline2", "--k", "0.5", "--lam", "0.1") == 0
    assert len(capsys.readouterr().out.splitlines()) == tiny.test.n_documents


def test_all_training_queries_for_neighbours_are_single(tiny: Study) -> None:
    ranker = load_ranker(tiny.folder, "offline1", k=1, lam=0.01)
    single = load_ranker(tiny.folder, "single", lam=0.01)
    assert np.allclose(ranker.ranker.weights_, single.ranker.coef_, atol=1e-3)


def test_a_file_serves_alone(tiny: Study, tmp_path: Path) -> None:
    shutil.copy(tiny.folder / "served" / "knn-offline2.parquet", tmp_path)
    file = tmp_path / "knn-offline2.parquet"
    for method in (None, "offline2", "knn-offline2"):
        ranker = load_ranker(file, method)
        assert np.array_equal(ranker.score_many(tiny.test.X, tiny.test.offsets), tiny.scores("offline2"))
    with pytest.raises(InputError, match="models of other settings are missing"):
        load_ranker(file, k=1)
    with pytest.raises(InputError, match="this is the ranker knn-offline2, not single"):
        load_ranker(file, "single")


def test_classes_of_queries_are_guessed_from_what_the_study_saw(tiny: Study) -> None:
    """QC sees columns of the query itself, and none of its documents; the other classifier sees the documents alone."""
    columns = topics_of(tiny.topics, tiny.test.query_id.tolist())[0]
    for method, given in (("qc", {"query_columns": columns}), ("qc-documents", {})):
        ranker = load_ranker(tiny.folder, method)
        scores = ranker.score_many(tiny.test.X, tiny.test.offsets, **given)
        assert np.array_equal(scores, tiny.scores(method)), method
    with pytest.raises(InputError, match="need 6 columns of the query itself"):
        load_ranker(tiny.folder, "qc").score_many(tiny.test.X, tiny.test.offsets)
    with pytest.raises(InputError, match="those that validation chose"):
        load_ranker(tiny.folder, "qc", lam=0.1)


def test_a_ranker_comes_back_as_it_was(tiny: Study) -> None:
    for method, ranker in tiny.run.made.items():
        again = load_ranker(tiny.folder, method).ranker
        assert type(again) is type(ranker)
        for name in fitted_names(ranker):
            before, after = getattr(ranker, name), getattr(again, name)
            assert np.array_equal(after, before), (method, name)
            assert getattr(after, "dtype", None) == getattr(before, "dtype", None), (method, name)


def test_new_queries_of_any_length_get_scores(tiny: Study) -> None:
    rng = np.random.default_rng(0)
    for method in SERVED:
        ranker = load_ranker(tiny.folder, method)
        for n in (1, 2, 700):
            scores = ranker.score(rng.standard_normal((n, 8)))
            assert scores.shape == (n,)
            assert np.isfinite(scores).all()
        assert ranker.score(np.empty((0, 8))).shape == (0,)
        assert ranker.score_many(np.empty((0, 8)), np.zeros(1, dtype=np.int64)).shape == (0,)


@pytest.mark.parametrize("block_bytes", [300, 2000, 10**7])
def test_chunks_that_cut_queries_make_whole_queries(new: Path, tiny: Study, block_bytes: int) -> None:
    batches = list(whole_queries(read_letor(new, block_bytes=block_bytes)))
    assert [name for batch in batches for name in batch.query_id] == tiny.test.query_id.tolist()
    assert [name for batch in batches for name in batch.doc_id] == tiny.test.doc_id.tolist()
    assert np.array_equal(np.concatenate([batch.X for batch in batches]), tiny.test.X)
    sizes = np.concatenate([np.diff(batch.offsets) for batch in batches])
    assert np.array_equal(sizes, np.diff(tiny.test.offsets))


def test_wrong_input_is_told_in_words(tiny, new, tmp_path, capsys):
    def told(path: Path, *arguments: object) -> str:
        assert rank(tiny, path, *arguments, "--output", tmp_path / "never.txt") == 2
        assert not (tmp_path / "never.txt").exists()
        return capsys.readouterr().err

    narrow, wide = tmp_path / "narrow.txt", tmp_path / "wide.txt"
    narrow.write_text("".join(letor_rows(tiny.test, n_features=7)))
    wide.write_text("0 qid:1 " + " ".join(f"{i}:1" for i in range(1, 10)) + "\n")
    assert "the first row has 9 features, and the models know 8" in told(wide, "--sparse")
    assert "did you mean qc-documents?" in told(new, "--method", "qc-document")
    assert "no models were trained with k=3 lambda=" in told(new, "--k", "3")
    assert "single has no number of neighbours" in told(new, "--method", "single", "--k", "3")
    assert rank(tiny, narrow, "--sparse", "--output", tmp_path / "sparse.txt") == 0


def test_arrays_of_another_shape_are_refused(tiny: Study) -> None:
    ranker = load_ranker(tiny.folder, "single")
    with pytest.raises(InputError, match="have 8 features"):
        ranker.score(np.zeros((3, 7)))
    with pytest.raises(InputError, match="offsets"):
        ranker.score_many(np.zeros((3, 8)), np.array([0, 2]))
    with pytest.raises(InputError, match="no finite value"):
        ranker.score(np.full((3, 8), np.nan))


def test_columns_of_the_query_are_asked_for(tmp_path: Path) -> None:
    study = Study(tmp_path, query_columns=True)
    with pytest.raises(InputError, match="need 6 columns of the query itself"):
        load_ranker(study.folder).score(study.test.X[:5])
    new = tmp_path / "new.txt"
    new.write_text("".join(letor_rows(study.test)))
    assert rank(study, new, "--topics", tmp_path / "topics.parquet", "--output", tmp_path / "scores.txt") == 0
    assert [float(line) for line in (tmp_path / "scores.txt").open()] == study.scores("offline1").tolist()
    unknown = study.topics.filter(pa.compute.not_equal(study.topics.column("query_id"), study.test.query_id[0]))
    with pytest.raises(InputError, match="not among the topics"):
        topics_of(unknown, study.test.query_id.tolist())


def test_the_command_that_makes_the_models_is_complete(tmp_path: Path) -> None:
    fold = tmp_path / "results" / "mine" / "fold1"
    fold.mkdir(parents=True)
    (tmp_path / "results" / "config.yaml").write_text(recorded_text(["my data.yaml"], "seed: 1\n"))
    with pytest.raises(InputError) as caught:
        load_ranker(fold)
    wanted = (
        f"snakemake --cores all results/mine/fold1/served/knn-offline1.parquet --directory {tmp_path}"
        f" --configfile '{tmp_path}/my data.yaml'"
    )
    assert wanted in str(caught.value)


@pytest.mark.parametrize("method", ["single", "offline1", "offline2"])
def test_one_call_gives_the_scores_of_the_study(tiny, method):
    found = qdrank.rank(tiny.folder, tiny.test.X, tiny.test.query, method=method)
    assert np.array_equal(found, tiny.scores(method))
    own = slice(*tiny.test.offsets[:2])
    assert np.array_equal(qdrank.rank(tiny.folder, tiny.test.X[own], method=method), found[own])


def test_one_call_refuses_what_does_not_fit(tiny):
    with pytest.raises(InputError, match="as many query ids"):
        qdrank.rank(tiny.folder, tiny.test.X, ["a"])
    with pytest.raises(InputError, match="8 features"):
        qdrank.rank(tiny.folder, tiny.test.X[:, :3])
    with pytest.raises(AttributeError, match="ranks"):
        _ = qdrank.ranks
