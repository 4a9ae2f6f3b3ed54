"""A world in which the best weights depend on the query is found, with all that the study makes; its noise is matched."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.columns import columns_table
from qdrank.datasets.folds import assign_parts
from qdrank.datasets.runs.features import judged_runs
from qdrank.datasets.runs.model import Run
from qdrank.datasets.runs.scaling import run_ranks
from qdrank.datasets.simulated.two_runs import two_runs
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, HOLDS
from qdrank.evaluation.measuring import measures_table
from qdrank.evaluation.observations import observe
from qdrank.evaluation.run_files import measure_run
from qdrank.learners.refits import fit_seed, jittered
from qdrank.queries.others import other_rows
from qdrank.queries.predictors import RunPredictors
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.run_scores import among_first
from qdrank.rankers.tuning import query_values_of
from qdrank.store import write
from qdrank.studies import stored_kinds
from qdrank.studies.hybrid import STUDY, figures, observations, tables
from qdrank.studies.hybrid.choices import choices_table
from qdrank.studies.hybrid.claims import declare
from qdrank.studies.hybrid.curves import learning_curve, weight_curves
from qdrank.studies.hybrid.fold import FoldData, Methods
from qdrank.studies.hybrid.methods import (
    CHOSEN,
    CONTROLS,
    EVIDENCE,
    MEASURE,
    METHODS,
    OF_CHOSEN,
    PAPERS,
    PREDICTED_TREES,
    REFITTED,
    TREES_QUERIES,
)
from qdrank.studies.hybrid.options import Options
from qdrank.studies.hybrid.oracle import Oracles, distance, first_documents, matched_size, oracle_table
from qdrank.studies.hybrid.settings import Hybrid
from qdrank.studies.hybrid.shown import DECLARED
from qdrank.studies.hybrid.tables_of_fold import checks_table, single_runs, values_table
from qdrank.studies.lin2011.settings import Lin
from qdrank.studies.making import Inputs, Shown

SMALL = {
    "ks": [0.5, 0.2],
    "lambdas": [0.1],
    "leaves": [4],
    "lambdamart_leaves": [4],
    "rounds": 10,
    "lambdamart_rounds": 10,
    "powers": [1],
    "linear_lambdas": [0.1],
}
SECTION = Hybrid(**SMALL, norms=["min-max"], draws=2, sizes=[20], semi_supervised=True)
OPTIONS = Options(**SECTION.solved(), seed=1, tol=1e-4, refits=3, readings=Lin().readings(), kinds=stored_kinds())
SHOWN = Shown("world", "World", ["fold1"], {"level": 0.95, "resamples": 200, "seed": 1}, {})
TABLES = ("controls", "paper_controls", "checks", "weights", "learning", "oracle")


def fold_of(dependence):
    runs, qrels = two_runs(queries=500, documents=25, dependence=dependence)
    part = assign_parts(list(qrels.by_query), seed=1)
    made = judged_runs(runs, qrels, part, max_label=1)
    documents = fold_documents(made.judged, "fold1")
    roles = ("train", "vali", "test")
    parts = tuple(documents.parts[role] for role in roles)
    predictors = tuple(RunPredictors().vectors(one.X, one.offsets) for one in parts)
    data = FoldData(parts, tuple(documents.seen(role) for role in roles), predictors, predictors, 0)
    return data, made.names


@pytest.fixture(scope="module")
def made():
    data, names = fold_of(0.6)
    methods = Methods(data, OPTIONS).run()
    methods.run_papers(methods.norm)
    oracles = Oracles(data.parts[2], methods.fixed.settings_, methods.fixed.place, methods.norm)
    curves = oracles.curves()
    return SimpleNamespace(methods=methods, oracles=oracles, curves=curves, names=names)


@pytest.fixture(scope="module")
def inputs(made, tmp_path_factory):
    folder, methods = tmp_path_factory.mktemp("fold"), made.methods
    controls = methods.control_values()
    of_papers = {CONTROLS[name]: controls.pop(CONTROLS[name]) for name in PAPERS if name in CONTROLS}
    values = {**controls, OF_CHOSEN: controls[CONTROLS[methods.chosen()]], **single_runs(methods, ["first", "second"])}
    shown = {
        "controls": values_table("fold1", methods, values),
        "paper_controls": values_table("fold1", methods, of_papers),
        "checks": checks_table("fold1", methods, made.curves),
        "weights": weight_curves("fold1", methods),
        "learning": learning_curve("fold1", methods, made.curves),
        "oracle": oracle_table("fold1", made.oracles, made.curves, 2, 1),
    }
    for name, table in shown.items():
        write(folder / f"{name}.parquet", "figure", table)
    for name, wanted in (
        ("choices", set(methods.tuned) - {*PAPERS, *of_papers}),
        ("paper_choices", {*PAPERS, *of_papers}),
    ):
        tuned = {method: choice for method, choice in methods.tuned.items() if method in wanted}
        write(folder / f"{name}.parquet", "choices", choices_table("fold1", tuned, methods.tried))
    write(folder / "columns.parquet", "columns", columns_table(made.names, 0))
    names = [method.name for method in METHODS]
    measured = []
    for fit in range(OPTIONS.refits):  # the first fit of every method, then those of the methods that are fitted again
        fitted = names if fit == 0 else list(REFITTED)
        scores = np.stack([methods.fits_of(name)[:, fit] for name in fitted], axis=1)
        measured.append(
            measures_table(STUDY.measures, methods.data.parts[2], scores, fitted, "fold1", [fit] * len(fitted))
        )
    write(folder / "measures.parquet", "measures", pa.concat_tables(measured))
    paths = {
        name: [str(folder / f"{name}.parquet")] for name in (*TABLES, "choices", "paper_choices", "columns", "measures")
    }
    return Inputs(paths)


def test_the_world_is_found_and_every_check_holds(inputs):
    verdicts = decide(
        declare(SECTION.solved()),
        {"world": observe(declare(SECTION.solved()), *observations.gather(inputs, SHOWN))},
        dataset="world",
    )
    rows = {row["claim"]: row for row in verdicts.to_pylist()}
    assert set(rows) == {claim.name for claim in declare(SECTION.solved())}
    assert all(row["verdict"] == HOLDS for row in rows.values() if row["purpose"] == CHECK)
    assert [rows[name]["verdict"] for name in ("gain", "control", "oracle")] == [HOLDS] * 3


def test_controls_are_drawn_several_times_and_paired_by_draw(made, inputs):
    methods, values = made.methods, made.methods.control_values()
    drawn = [CONTROLS[name] for name in CONTROLS if CONTROLS[name] in values and name != EVIDENCE]
    assert {values[name].shape[1] for name in drawn} == {OPTIONS.refits}
    assert values[CONTROLS[EVIDENCE]].shape[1] == 1  # it draws nothing
    again = (CONTROLS[name] for name in ("hybrid-ridge", "hybrid-margin", TREES_QUERIES))
    assert all((values[name][:, 0] != values[name][:, 1]).any() for name in again)
    seed, (train, _, test) = fit_seed(OPTIONS.seed, 1), methods.data.with_predictors()
    ridge = methods.rankers[CONTROLS["hybrid-ridge"]].fresh()
    ridge.fit_curves(methods.fixed.settings_, methods.curves[0], train[0], other_rows(train[1], seed))
    by_hand = query_values_of(MEASURE, test[0], ridge.predict(test[0], other_rows(test[1], seed)))
    np.testing.assert_allclose(values[CONTROLS["hybrid-ridge"]][:, 1], by_hand)
    control = observations.gather(inputs, SHOWN)[1]["control"]["difference"]
    assert control.value.shape[1] == OPTIONS.refits


def test_trees_are_fitted_several_times(made):
    methods, scores = made.methods, {name: made.methods.fits_of(name) for name in REFITTED}
    assert {one.shape[1] for one in scores.values()} == {OPTIONS.refits}
    (train, _, test), curves = methods.data.with_predictors(), methods.curves[0]
    seed = fit_seed(OPTIONS.seed, 1)
    chosen = methods.rankers[TREES_QUERIES]
    again = chosen.redrawn(seed)
    again.base.rounds = chosen.base.rounds_
    again.fit(among_first(train[0], OPTIONS.lambdamart_depth), train[1])
    assert again.base.rounds_ == chosen.base.rounds_
    np.testing.assert_array_equal(scores[TREES_QUERIES][:, 1], again.predict(*test))
    moved = jittered(curves.ravel(), fit=1, seed=OPTIONS.seed).reshape(curves.shape)
    predicted = methods.rankers[PREDICTED_TREES].redrawn(seed).fit_curves(methods.fixed.settings_, moved, *train)
    np.testing.assert_array_equal(scores[PREDICTED_TREES][:, 1], predicted.predict(*test))


def test_lambdamart_learns_from_the_first_documents(made):
    train = made.methods.data.parts[0]
    first = among_first(train, 3)
    kept = [
        i for i in range(train.n_documents) if any(train.X[i, 5 * r + 2] <= 3 and train.X[i, 5 * r + 4] for r in (0, 1))
    ]
    assert first.doc_id.tolist() == train.doc_id[kept].tolist()
    assert first.query.tolist() == train.query[kept].tolist()
    assert (train.X[kept] == first.X).all()


def test_the_negative_control_is_not_found():
    data, _ = fold_of(0.0)
    methods = Methods(data, OPTIONS)
    methods.weigh()
    gain = (methods.values_of(methods.fits_of(CHOSEN)) - methods.values_of(methods.fits_of("hybrid-fixed"))).mean(
        axis=1
    )
    assert gain.mean() < 2 * gain.std() / np.sqrt(len(gain))


def test_figures_and_tables_are_made_of_it(inputs):
    for output in STUDY.figures:
        figure, table = getattr(figures, output.make.rpartition(":")[2])(inputs, SHOWN)
        assert figure.axes
        assert len(table)
    shown = tables.tabulate(inputs, SHOWN)
    assert set(shown) == set(STUDY.tables[0].shows)
    best = {row["method"]: row for row in shown["hybrid-methods"].to_pylist()}
    assert best["weights per query, chosen on validation"]["from fixed"] > 0.02
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
        np.testing.assert_array_equal(curves[:, place], measure_run([MEASURE], run, qrels)[1][MEASURE])
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


def test_the_observations_of_one_fold_name_each_query_once(inputs):
    parts = observations.gather(inputs, SHOWN)[1]["gain"]["difference"]
    assert (len(set(parts.query_id.tolist())), parts.value.shape) == (100, (100, OPTIONS.refits))
