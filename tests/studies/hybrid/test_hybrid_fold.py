"""A world in which the best weights depend on the query is found, with all that the study makes; its noise is matched."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.folds import assign_parts
from qdrank.datasets.runs.run import Run, judged_runs, run_ranks
from qdrank.datasets.simulated.features import two_runs
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, HOLDS
from qdrank.evaluation.measuring import measures_table
from qdrank.evaluation.run_files import judged_run
from qdrank.evaluation.values import observe
from qdrank.learners.choose import fit_seed, jittered
from qdrank.queries.predictors import RunPredictors
from qdrank.rankers.base import other_rows
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.run_scores import among_first
from qdrank.rankers.run_weights import training_curves
from qdrank.rankers.tuning import query_values_of
from qdrank.store import write
from qdrank.studies import stored_kinds
from qdrank.studies.hybrid import STUDY, figures, tables
from qdrank.studies.hybrid.claims import declare
from qdrank.studies.hybrid.fold import (
    Options,
    checks_table,
    measure_learning,
    measure_runs,
    measure_weights,
    oracles_of,
    views,
)
from qdrank.studies.hybrid.methods import (
    ALL,
    CHOSEN,
    CONTROLS,
    DECLARED,
    EVIDENCE,
    FIXED,
    LEARNED,
    MEASURE,
    METHODS,
    OF_CHOSEN,
    PER_QUERY,
    PREDICTED_TREES,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.oracle import Oracles, distance, first_documents, matched_size, measure_oracles
from qdrank.studies.hybrid.oracle_kernels import BY_RANK, SHARE, distances, first_places, matched_sizes
from qdrank.studies.hybrid.settings import Hybrid
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.running import FoldRun, View

SMALL = {
    "ks": [0.5, 0.2],
    "lambdas": [0.1],
    "leaves": [4],
    "rounds": 10,
    "lambdamart_rounds": 10,
    "powers": [1],
    "linear_lambdas": [0.1],
}
SECTION = Hybrid(**SMALL, norms=["min-max"], draws=2, sizes=[20], semi_supervised=True)
OPTIONS = Options(**SECTION.solved(), tol=1e-4, reference=0, readings=Lin().readings(), kinds=stored_kinds())
SHOWN = Shown("world", "World", ["fold1"], {"level": 0.95, "resamples": 200, "seed": 1}, {})
REFITS = 3


def fold_of(dependence):
    runs, qrels = two_runs(queries=500, documents=25, dependence=dependence)
    part = assign_parts(list(qrels.by_query), seed=1)
    made = judged_runs(runs, qrels, part, max_label=1)
    documents = fold_documents(made.judged, "fold1")
    plain = View.of(documents, lambda one: RunPredictors().vectors(one.X, one.offsets), scaled=False)
    seen = views(documents, plain, plain)
    return FoldRun("fold1", seen, OPTIONS, measure=MEASURE, seed=1, refits=REFITS)


@pytest.fixture(scope="module")
def made():
    run = fold_of(0.6)
    run.run(ALL)
    measure_runs(run, ["first", "second"])
    measure_weights(run, ["first", "second"])
    measure_learning(run)
    oracles = oracles_of(run)
    curves = oracles.curves()
    measure_oracles(run, oracles, curves)
    return SimpleNamespace(run=run, oracles=oracles, curves=curves)


@pytest.fixture(scope="module")
def inputs(made, tmp_path_factory):
    folder, run = tmp_path_factory.mktemp("fold"), made.run
    run.write({name: str(folder / f"{name}.parquet") for name in ("choices", "values")})
    write(folder / "checks.parquet", "figure", checks_table(run, made.curves))
    measured = []
    for fit in range(REFITS):
        fitted = [method.name for method in METHODS if len(run.scores[method.name]) > fit]
        scores = np.stack([run.scores[name][fit] for name in fitted], axis=1)
        measured.append(measures_table(STUDY.measures, run.test, scores, fitted, "fold1", [fit] * len(fitted)))
    write(folder / "measures.parquet", "measures", pa.concat_tables(measured))
    return Inputs({path.stem: [str(path)] for path in folder.iterdir()})


@pytest.fixture(scope="module")
def observed(inputs):
    return observe(declare(SECTION.solved()), *tables.gather(inputs, SHOWN))


def test_the_world_is_found_and_every_check_holds(observed):
    verdicts = decide(declare(SECTION.solved()), {"world": observed}, dataset="world")
    rows = {row["claim"]: row for row in verdicts.to_pylist()}
    assert set(rows) == {claim.name for claim in declare(SECTION.solved())}
    assert all(row["verdict"] == HOLDS for row in rows.values() if row["purpose"] == CHECK)
    assert [rows[name]["verdict"] for name in ("gain", "control", "oracle")] == [HOLDS] * 3


def test_controls_are_drawn_several_times_and_paired_by_draw(made, observed):
    run = made.run
    assert {name: len(run.scores[name]) for name in CONTROLS.values()} == dict.fromkeys(CONTROLS.values(), REFITS) | {
        CONTROLS[EVIDENCE]: 1  # it draws nothing
    }
    for name in (CONTROLS[name] for name in ("hybrid-ridge", "hybrid-margin", TREES_QUERIES)):
        assert (run.scores[name][0] != run.scores[name][1]).any()
    seed, parts = fit_seed(1, 1), run.views["predicted"].parts
    (train, vectors), (test, of_test) = parts["train"], parts["test"]
    ridge = run.made["hybrid-ridge"].fresh().fit(train, other_rows(vectors, seed))
    by_hand = ridge.predict(test, other_rows(of_test, seed))
    np.testing.assert_array_equal(run.scores[CONTROLS["hybrid-ridge"]][1], by_hand)
    control = observed["control"]["difference"]
    assert control.value.shape[1] == REFITS


def test_margins_of_another_query_are_those_of_the_rule(made):
    run, rule = made.run, made.run.made["hybrid-margin"]
    documents, vectors = run.views[""].parts["test"]
    weights = other_rows(rule.models(documents, vectors), 1)
    np.testing.assert_array_equal(run.scores[CONTROLS["hybrid-margin"]][0], rule.scores_by(documents, weights))


def test_trees_that_predict_curves_are_grown_again_from_moved_curves(made):
    run, seed = made.run, fit_seed(1, 1)
    train, test = (run.views["predicted"].parts[role] for role in ("train", "test"))
    settings, curves = training_curves(train[0], run.made[FIXED].norm, MEASURE, 1)
    moved = jittered(curves.ravel(), fit=1, seed=seed).reshape(curves.shape)
    predicted = run.made[PREDICTED_TREES].fresh().fit_curves(settings, moved, *train)
    np.testing.assert_array_equal(run.scores[PREDICTED_TREES][1], predicted.predict(*test))


def test_the_chosen_method_and_its_control_are_those_of_validation(made):
    run = made.run
    best = max(run.validated[name] for name in PER_QUERY)
    name = next(name for name in PER_QUERY if run.validated[name] == best)
    assert run.same == {CHOSEN: name, OF_CHOSEN: CONTROLS[name]}


def test_lambdamart_learns_from_the_first_documents(made):
    train, first = made.run.views[""].parts["train"][0], among_first(made.run.views[""].parts["train"][0], 3)
    kept = [
        i for i in range(train.n_documents) if any(train.X[i, 5 * r + 2] <= 3 and train.X[i, 5 * r + 4] for r in (0, 1))
    ]
    assert first.doc_id.tolist() == train.doc_id[kept].tolist()
    assert first.query.tolist() == train.query[kept].tolist()
    assert (train.X[kept] == first.X).all()


def test_curves_end_at_single_runs_and_at_the_methods_themselves(made, inputs):
    values = inputs.frame("values", "values").pivot(index="query_id", columns=["method", "x", "fit"], values=MEASURE)
    for tag in ("first", "second"):
        np.testing.assert_array_equal(values[f"run {tag}", 1.0, 0], values[f"run {tag}", np.nan, 0])
    for name in LEARNED:
        method = query_values_of(MEASURE, made.run.test, made.run.scores[name][0])
        np.testing.assert_array_equal(values[name, 0.0, 0].loc[made.run.test.query_id], method)


def test_the_negative_control_is_not_found():
    run = fold_of(0.0)
    run.run(method for method in METHODS if method.name in (FIXED, CHOSEN, *PER_QUERY))
    values = [
        np.mean([query_values_of(MEASURE, run.test, scores) for scores in run.scores[name]], axis=0)
        for name in (CHOSEN, FIXED)
    ]
    gain = values[0] - values[1]
    assert gain.mean() < 2 * gain.std() / np.sqrt(len(gain))


def test_figures_and_tables_are_made_of_it(inputs):
    for output in STUDY.figures:
        figure, table = getattr(figures, output.make.rpartition(":")[2])(inputs, SHOWN)
        assert figure.axes
        assert len(table)
    shown = tables.tabulate(inputs, SHOWN)
    assert set(shown) == set(STUDY.tables[0].shows)
    best = {row["method"]: row for row in shown["hybrid-methods"].to_dict("records")}
    assert best["weights per query, chosen on validation"]["difference from tuned fixed weights"] > 0.02
    assert "run first" in best


def test_noise_rankings_are_as_far_away_as_those_of_the_weights(made):
    noise = made.oracles.noise(DECLARED, [1])
    assert noise["noise distance"].mean() == pytest.approx(noise["distance"].mean(), rel=0.05)
    assert noise["noise between"].mean() == pytest.approx(noise["between"].mean(), rel=0.25)
    assert (noise["noise"] >= made.curves[:, made.oracles.tuned] - 1e-12).all()  # the tuned ranking is one of them


def test_oracles_of_lists_of_three_that_lack_queries():
    runs, qrels = two_runs(queries=30, documents=25)
    short = []
    for run, missing in zip(runs, (0, 4), strict=True):
        rows = np.flatnonzero((run_ranks(run) <= 3) & ~np.isin(run.query, list(qrels.by_query)[:missing]))
        short.append(Run(run.query[rows], run.doc[rows], run.score[rows], run.tag))
    judged = judged_runs(short, qrels, dict.fromkeys(qrels.by_query, "all"), max_label=1).judged
    settings = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    oracles = Oracles(judged, settings, 2, "min-max")  # the tuned list of four queries is empty
    curves = oracles.curves()
    for place, run in ((1, short[0]), (2, short[1])):
        np.testing.assert_array_equal(curves[:, place], judged_run(run, qrels).measured([MEASURE])[MEASURE])
    noise = oracles.noise(DECLARED, [1])
    assert all(np.isfinite(values).all() for values in noise.values())
    assert (noise["noise"][:4] == 0).all()
    assert (noise["noise"] >= curves[:, 2] - 1e-12).all()


def test_distance_is_rank_biased_overlap():
    a, b = np.arange(10)[None], np.array([[1, 0, 2, 30, 4, 5, 6, 7, 8, 31]])
    depth = np.arange(1, 11)
    shared = np.array([len({*a[0, :d]} & {*b[0, :d]}) for d in depth]) / depth
    weight = 0.9 ** (depth - 1)
    assert distance(a, b, "overlap by rank")[0] == pytest.approx(1 - (shared * weight).sum() / weight.sum())
    assert distance(a, b, "first ten")[0] == pytest.approx(0.2)
    assert distance(a, a, "overlap by rank")[0] == pytest.approx(0)


def test_a_size_is_found_for_every_distance():
    rng = np.random.default_rng(1)
    base, change = rng.standard_normal((50, 30)), rng.standard_normal((50, 30))
    wanted = np.linspace(0, 0.6, 50)
    size = matched_size(base, change, wanted, "overlap by rank")
    reached = distance(first_documents(base), first_documents(base + size[:, None] * change), "overlap by rank")
    assert size[0] == 0
    assert np.abs(reached - wanted).mean() < 0.05


def test_the_observations_of_one_fold_name_each_query_once(observed):
    parts = observed["gain"]["difference"]
    assert (len(set(parts.query_id.tolist())), parts.value.shape) == (100, (100, REFITS))


DEPTH = 4
WEIGHT = np.array([0.4, 0.3, 0.2, 0.1])


def scores(seed, n=20, places=9):
    """Rankings with ties and with documents that do not exist, at least as many existing ones as are looked at."""
    rng = np.random.default_rng(seed)
    made = rng.integers(0, 5, size=(n, places)).astype(np.float64)
    made[:, DEPTH:][rng.random((n, places - DEPTH)) < 0.3] = -np.inf
    return made


def by_sets(a, b, kind):
    """Distance of two lists: one minus their overlap, at every depth or at the last."""
    shares = [len(set(a[:d]) & set(b[:d])) / d for d in range(1, len(a) + 1)]
    return 1 - (shares[-1] if kind == SHARE else float(WEIGHT @ shares))


def first_of(row):
    return sorted(range(len(row)), key=lambda i: (-row[i], i))[:DEPTH]


def test_first_places_are_those_of_a_stable_sort():
    made = scores(0)
    np.testing.assert_array_equal(first_places(made, DEPTH), [first_of(row) for row in made])


@pytest.mark.parametrize("kind", [BY_RANK, SHARE])
def test_distances_are_those_of_sets(kind):
    a, b = first_places(scores(1), DEPTH), first_places(scores(2), DEPTH)
    expected = [by_sets(x.tolist(), y.tolist(), kind) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(distances(a, b, kind, WEIGHT), expected, atol=1e-15)
    np.testing.assert_allclose(distances(a, a, kind, WEIGHT), 0, atol=1e-15)


@pytest.mark.parametrize("kind", [BY_RANK, SHARE])
def test_a_matched_size_is_where_the_distance_passes_what_is_wanted(kind):
    rng = np.random.default_rng(3)
    base, change = rng.normal(size=(12, 9)), rng.normal(size=(12, 9))
    wanted, widest, steps = rng.uniform(0.1, 0.6, size=12), 8.0, 12
    sizes = matched_sizes(base, change, first_places(base, DEPTH), wanted, kind, WEIGHT, widest, steps)
    half = widest / 2**steps
    for q, size in enumerate(sizes.tolist()):
        start = first_of(base[q])
        below, above = (
            by_sets(start, first_of(base[q] + 2.0**at * change[q]), kind) for at in (size - half, size + half)
        )
        assert below <= wanted[q] or size == pytest.approx(-widest + half)
        assert above > wanted[q] or size == pytest.approx(widest - half)
    assert len(set(sizes.tolist())) > 6
