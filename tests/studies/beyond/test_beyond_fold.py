"""The rankers of a fold, their controls, and what is made of them, on data whose documents recur."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.text.test_judged_text import made

from qdrank.datasets.judged import Judged, load_judged, refits_table
from qdrank.errors import InputError
from qdrank.evaluation.comparison import DETECTABLE
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, HOLDS
from qdrank.evaluation.measuring import measures_table
from qdrank.evaluation.observations import observe
from qdrank.learners.classic.trees import LambdaMART
from qdrank.learners.refits import fit_seed
from qdrank.queries.others import other_rows
from qdrank.rankers import RANKERS
from qdrank.rankers.served import ServedRanker, write_ranker
from qdrank.rankers.state import from_state_table, state_table
from qdrank.rankers.stored import read_ranker
from qdrank.rankers.tuning import query_values_of
from qdrank.registry import loaded
from qdrank.store import read, write
from qdrank.studies.beyond import STUDY, observations, tables
from qdrank.studies.beyond.checks import _leak, checks_table, recurrence_table
from qdrank.studies.beyond.claims import PAST, declare
from qdrank.studies.beyond.figures import draw_controls, draw_ladder
from qdrank.studies.beyond.fitting import write_methods, write_values
from qdrank.studies.beyond.fold import (
    FoldData,
    Ladder,
    control_values,
    further_scores,
)
from qdrank.studies.beyond.gathering import chosen_method, gather_steps
from qdrank.studies.beyond.methods import (
    BY_NAME,
    CHOSEN,
    CONTROLS,
    FIXED,
    FIXED_CONTROLS,
    GATED,
    METHODS,
    OF_CHOSEN,
    OTHER_GATE,
    SINGLE,
    TREES,
)
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.rejudged import Rejudging
from qdrank.studies.beyond.retrieved import JOBS
from qdrank.studies.beyond.settings import Beyond
from qdrank.studies.beyond.steps import (
    FITTED_APART,
    STEPS,
    control_files,
    controls_stored,
    controls_taken,
    methods_needed,
    methods_refitted,
    methods_tuned,
    step_tables,
)
from qdrank.studies.beyond.values import gathered_values
from qdrank.studies.making import Inputs, Shown
from qdrank.text.judged import TextSettings, judged_text

SMALL = {
    "lambdas": [0.1, 0.01],
    "leaves": [4],
    "min_leaf": [5, 20],
    "ks": [0.3],
    "interactions": [10],
    "components": 2,
    "near": [0.8],
}
#: Methods that another job fits again, from their stored form.
REDRAWN = {method.name for method in METHODS if method.refitted}
INTERVAL = {"level": 0.95, "resamples": 100, "seed": 1}


def world(seed, n, first):
    """Queries on topics: documents of the topic are relevant, those of another topic are not; features say little."""
    rng = np.random.default_rng([seed, first])
    topics, listed = rng.integers(0, 6, n), 10
    others = (topics + rng.integers(1, 6, n)) % 6
    pairs = zip(topics, others, strict=True)
    documents = np.concatenate(
        [np.r_[rng.permutation(12)[:6] + 12 * a, rng.permutation(12)[:4] + 12 * b] for a, b in pairs]
    )
    good = (documents // 12 == np.repeat(topics, listed)) & (documents % 3 > 0)
    X = rng.normal(size=(n * listed, 5)).astype(np.float32)
    X[:, 0] += 0.3 * good
    judged = Judged(
        query_id=np.array([f"q{first + i}" for i in range(n)], dtype=object),
        part=np.full(n, "part", dtype=object),
        offsets=np.arange(n + 1, dtype=np.int64) * listed,
        doc_id=np.array([f"d{i}" for i in documents], dtype=object),
        y=good.astype(np.int64),
        X=X,
    )
    return judged, rng.normal(size=(n, 4))


@pytest.fixture(scope="module")
def options():
    section = Beyond(**SMALL)
    return Options(**section.solved(), rounds=8, tol=1e-6, seed=1)


@pytest.fixture(scope="module")
def ladder(options):
    return Ladder(fold_of_world(), options).climb()


def fold_of_world():
    return FoldData(world(1, 60, 0), world(1, 30, 100), world(1, 120, 200), 0)


def gathered(folder, ladders, refits=5):
    """Files of a fold by name; ``ladders`` has pairs of steps and the ladder that climbed them."""
    files = {"choices": [], "controls": []}
    for steps, ladder in ladders:
        made = [*methods_tuned(steps), *(f"served_{name}" for name in methods_tuned(steps))]
        made += [
            "choices",
            "controls",
            *(f"refits_{name}" for name in methods_refitted(steps)),
            *control_files(controls_stored(steps)),
        ]
        out = {name: str(folder / "-".join(steps) / f"{name}.parquet") for name in made}
        write_values(out, "fold1", ladder, steps, refits)
        write_methods(out, ladder, steps, partial(ServedRanker, fold="fold1", documents=None))
        for name in REDRAWN & {*methods_tuned(steps)}:
            out[f"refits_{name}"] = str(folder / f"refits-{name}.parquet")
            table = refits_table(ladder.data.test[0], further_scores(ladder, name, refits))
            write(out[f"refits_{name}"], "refits", table)
        files |= out | {name: [*files[name], out[name]] for name in ("choices", "controls")}
    names = ("choices", "controls", CHOSEN, f"served_{CHOSEN}", f"refits_{CHOSEN}")
    out = {name: str(folder / "gathered" / f"{name}.parquet") for name in names}
    gather_steps(files, out, "fold1", refits=refits)
    return files | out


@pytest.fixture(scope="module")
def files(ladder, tmp_path_factory):
    """Files of a fold, climbed in one."""
    return gathered(tmp_path_factory.mktemp("fold"), [(tuple(STEPS), ladder)])


@pytest.fixture(scope="module")
def inputs(ladder, files, tmp_path_factory):
    """Artifacts of a data set with one fold."""
    folder, test = tmp_path_factory.mktemp("beyond"), ladder.data.test[0]
    names = [method.name for method in METHODS]
    scores = [read(files[name], "scores").column("score").to_numpy() for name in names]
    artifacts = {
        "measures": (
            "measures",
            measures_table(list(tables.TABLED_MEASURES), test, np.stack(scores, 1), names, "fold1"),
        ),
        "checks": ("figure", checks_table("fold1", ladder)),
        "recurrence": ("figure", recurrence_table("fold1", ladder)),
    }
    for name, (shape, table) in artifacts.items():
        write(folder / f"{name}.parquet", shape, table)
    made = {name: [str(folder / f"{name}.parquet")] for name in artifacts}
    # these data are no raw text, so that nothing is retrieved
    return Inputs({job: [] for job in JOBS} | made | {name: [files[name]] for name in ("choices", "controls")})


SHOWN = Shown("toy", "Toy", ["fold1"], INTERVAL, {})


def test_evidence_finds_what_features_do_not_say(files):
    """In this world documents recur and topics matter, so that evidence is chosen and beats its control."""
    chosen = chosen_method(read(files["choices"], "choices"))
    assert chosen in ("beyond-evidence", "beyond-trees-evidence")
    assert read(files[CHOSEN], "scores").equals(read(files[chosen], "scores"))
    assert read(files[f"refits_{CHOSEN}"], "refits").equals(read(files[f"refits_{chosen}"], "refits"))
    stored, first = (read_ranker(files[f"served_{name}"]) for name in (CHOSEN, chosen))
    assert stored.method == CHOSEN
    assert state_table(replace(stored, method=chosen)).equals(state_table(first))
    controls = read(files["controls"], "figure")
    assert set(controls.column("control").to_pylist()) >= {*CONTROLS.values(), OTHER_GATE, OF_CHOSEN}
    of_chosen, control = (
        controls.filter((pc.field("control") == name) & (pc.field("near") == 0)).drop(["control"])
        for name in (OF_CHOSEN, CONTROLS[chosen])
    )
    assert of_chosen.equals(control)


def test_steps_climbed_apart_make_the_same_files(files, ladder, options, tmp_path):
    stored = {}
    apart = []
    for step in reversed(STEPS):  # the order of the jobs must not matter
        needed = {name: read_ranker(files[f"served_{name}"]).ranker for name in methods_needed([step])}
        one = Ladder(fold_of_world(), options, rankers=needed)
        for method in controls_taken([step]):
            control, path = CONTROLS[method], stored.setdefault(f"control_{method}", tmp_path / f"{method}.parquet")
            ranker = ServedRanker(method=control, fold="fold1", documents=None, ranker=ladder.rankers[control])
            write_ranker(path, ranker)
            one.take(control, read_ranker(path).ranker, FITTED_APART[method][-1])
        apart.append(((step,), one.climb([step])))
    again = gathered(tmp_path, apart)
    controls = {name: again.pop(name) for name in list(again) if name.startswith("control_")}
    assert controls.keys() == stored.keys() == {f"control_{method}" for method in FITTED_APART}
    for name, path in controls.items():
        assert read(path, "rankers").equals(read(stored[name], "rankers"))
    kinds = {"choices": "choices", "controls": "figure"}
    for name in (name for name in again if not isinstance(files[name], list)):
        kind = kinds.get(name) or {"served": "rankers", "refits": "refits"}.get(name.partition("_")[0], "scores")
        assert read(again[name], kind).equals(read(files[name], kind)), name
    assert methods_needed(list(STEPS)) == []
    assert sorted([*methods_tuned(STEPS), CHOSEN]) == sorted(method.name for method in METHODS)


@pytest.mark.parametrize("name", sorted(REDRAWN))
def test_a_stored_method_with_trees_is_fitted_again_as_in_the_ladder(name, ladder, files):
    """From what it declares to be stored with, and nothing else."""
    kinds = {kind: RANKERS.targets[kind] for kind in (*BY_NAME[name].refitted, "documents", "document-vectors")}
    classes = {kind: loaded(target) for kind, target in kinds.items()} | {ServedRanker.NAME: ServedRanker}
    stored = from_state_table(read(files[f"served_{name}"], "rankers"), classes.__getitem__).ranker
    data = ladder.data
    again = stored.redrawn(7).fit(*data.train, validation=data.vali).predict(*data.test)
    assert np.array_equal(again, ladder.again(name, 7))
    assert not np.array_equal(again, ladder.scores[name])


def test_mixtures_and_lambdamart_are_fitted_again_on_trees_that_are_grown_once(ladder, monkeypatch):
    """As if each were fitted by itself: all queries and the parts of the first, not of each of four."""
    names, data = (TREES, FIXED, GATED, OTHER_GATE), [ladder.data_of(seen, 11) for seen in ("own", "others")]
    whole = [(ladder.rankers[name].redrawn(11), data[name == OTHER_GATE]) for name in names]
    expected = [ranker.fit(*own.train, validation=own.vali).predict(*own.test) for ranker, own in whole]
    grows, calls = LambdaMART.fit, []
    monkeypatch.setattr(LambdaMART, "fit", lambda *given, **more: calls.append(given) or grows(*given, **more))
    assert np.array_equal([ladder.again(name, 11) for name in names], expected)
    assert len({one.tobytes() for one in expected}) == len(names)
    assert len(calls) == 1 + ladder.options.parts


def test_tables_of_steps_are_those_of_the_jobs_of_a_data_set():
    jobs = {"fit": (["a", "b"], ["s1"]), "fit_a": (["a"], ["s2"]), "fit_b": (["b"], ["s2"])}
    small, large = ({"dataset": name, "fold": "f2"} for name in ("s1", "s2"))
    wildcards = [type("Wildcards", (dict,), {"dataset": one["dataset"]})(one) for one in (small, large)]
    of_all, of_one = (step_tables("choices", folds, jobs) for folds in (["f1", "f2"], ["{fold}"]))
    assert of_all(wildcards[0]) == [f"results/s1/{fold}/beyond/fit/choices.parquet" for fold in ("f1", "f2")]
    assert of_one(wildcards[1]) == [f"results/s2/f2/beyond/{job}/choices.parquet" for job in ("fit_a", "fit_b")]


def test_the_control_of_the_chosen_ranker_has_every_fit(tmp_path, ladder):
    """A control that draws nothing is fitted once, and serves every fit of the chosen ranker."""
    best = "beyond-evidence"
    better = copy(ladder.tuned[best])
    better.values = [1.0] * len(better.values)
    files = gathered(tmp_path, [(tuple(STEPS), replace(ladder, tuned=ladder.tuned | {best: better}))], refits=3)
    again, scores = read(files[f"refits_{CHOSEN}"], "refits"), read(files[best], "scores")
    assert again.column("fit").to_pylist() == [1] * len(scores) + [2] * len(scores)
    assert again.slice(0, len(scores)).drop(["fit"]).equals(scores)
    controls = read(files["controls"], "figure").filter(pc.field("near") == 0).to_pandas()
    one, all_fits = (controls[controls.control == name] for name in (CONTROLS[best], OF_CHOSEN))
    assert len(all_fits) == 3 * len(one)
    for fit in range(3):
        np.testing.assert_array_equal(all_fits.ap[all_fits.fit == fit], one.ap)


def test_a_control_is_not_its_method_again(ladder):
    """With the same vectors, neighbours or columns a control would rank as its method does, to the last bit."""
    pairs = [*((name, control) for name, control in CONTROLS.items() if name != GATED), (GATED, OTHER_GATE)]
    for name, control in pairs:
        assert (ladder.scores[name] != ladder.scores[control]).any(), name


def test_controls_that_draw_are_drawn_and_fitted_again(ladder):
    once, often = control_values(ladder), control_values(ladder, refits=3)
    for name, values in often.items():
        np.testing.assert_array_equal(values[:, :1], once[name])
        assert values.shape[1] == (1 if name in FIXED_CONTROLS else 3)
    for name in ("beyond-knn", "beyond-kernel", "beyond-bilinear"):
        drawn = often[CONTROLS[name]]
        assert (drawn[:, 0] != drawn[:, 1]).any()
        assert (drawn[:, 1] != drawn[:, 2]).any()
    seed, data = fit_seed(ladder.options.seed, 1), ladder.data
    others = [(part, other_rows(vectors, seed)) for part, vectors in (data.train, data.vali, data.test)]
    by_hand = ladder.rankers[CONTROLS["beyond-bilinear"]].fresh().fit(*others[0]).predict(*others[2])
    np.testing.assert_allclose(
        often[CONTROLS["beyond-bilinear"]][:, 1], query_values_of("ap", data.test[0], by_hand), atol=1e-12
    )


def test_values_are_paired_by_fit(inputs, ladder):
    values = gathered_values(inputs.table("measures", "measures"), inputs.table("controls", "figure"))
    pair = ("beyond-knn", 0.0), (CONTROLS["beyond-knn"], 0.0)
    assert values.of[pair[1]].shape[1] == 5
    difference = observations.gather(inputs, SHOWN)[1]["neighbours - random"]["nearest queries"]
    np.testing.assert_allclose(difference.value, values.of[pair[0]] - values.of[pair[1]])
    assert values.by_fit([pair, (pair[0], (SINGLE, 0.0))]).shape == (ladder.data.test[0].n_queries, 5, 2)


@pytest.mark.parametrize("judged_candidates", [False, True])
def test_the_check_finds_candidates_that_judgments_bring(options, tmp_path, judged_candidates):
    settings = TextSettings(n_top=5, judged=judged_candidates)
    write(tmp_path / "judged.parquet", "judged", judged_text(made(), settings).judged)
    data = load_judged(tmp_path / "judged.parquet")
    fold = SimpleNamespace(train=(data, np.zeros((data.n_queries, 1))), reference=20)
    leak = _leak(SimpleNamespace(data=fold, options=options), Rejudging(made(), settings))
    assert (leak > 0.01) if judged_candidates else (leak == 0)


def test_every_ranker_has_the_same_budget(ladder):
    assert {len(tuned.values) for tuned in ladder.tuned.values()} == {2}
    assert all(tuned.place == int(np.argmax(tuned.values)) for tuned in ladder.tuned.values())
    with pytest.raises(ValueError, match="as many settings"):
        Beyond(**SMALL | {"leaves": [4, 7]})


def test_the_labels_of_test_queries_choose_nothing(ladder, options):
    data = ladder.data
    test = data.test[0]
    turned = Judged(test.query_id, test.part, test.offsets, test.doc_id, 1 - test.y, test.X)
    again = Ladder(FoldData(data.train, data.vali, (turned, data.test[1]), 0), options).climb()
    for name, scores in ladder.scores.items():
        np.testing.assert_array_equal(again.scores[name], scores)


def test_other_vectors_are_those_of_other_queries():
    vectors = np.arange(14.0).reshape(7, 2)
    others = other_rows(vectors, 3)
    assert sorted(others[:, 0]) == sorted(vectors[:, 0])
    assert (others != vectors).all()


def test_checks_hold_and_claims_are_judged(inputs):
    found = observe(declare(Beyond(**SMALL).model_dump()), *observations.gather(inputs, SHOWN))
    declaration = declare(Beyond(**SMALL).model_dump())
    assert set(found) == {claim.name for claim in declaration if not claim.family.startswith(PAST)}
    verdicts = {row["claim"]: row for row in decide(declaration, {"toy": found}, dataset="toy").to_pylist()}
    for claim in declaration:
        if claim.purpose == CHECK:
            assert verdicts[claim.name]["verdict"] == HOLDS, claim.name
    # LambdaMART with the prior differs from fit to fit as much as from LambdaMART with evidence
    assert verdicts["control"]["fits"] == 5
    assert found["control"]["difference"].value.mean() > 0.04


def test_tables_and_figures_have_their_numbers(inputs):
    tabled = tables.tabulate(inputs, SHOWN)
    shown = [output for one in STUDY.tables[:1] for output in one.shows]
    assert list(tabled) == shown
    tests = tabled["beyond-tests"].to_pylist()
    assert len(tests) == 8 * 3 + 1 + 2 + 2  # three each, the other gate, the fixed mixture, near-duplicates
    assert all(row["p (Holm)"] >= row["p (t test)"] and row[DETECTABLE] >= 0 for row in tests)
    assert len(tabled["beyond-methods"]) == len(METHODS)
    assert tabled["beyond-documents"].num_rows == 2
    for draw in (draw_ladder, draw_controls):
        figure, table = draw(inputs, SHOWN)
        assert len(figure.axes) >= 1
        assert table.num_rows > 1
    single = [row for row in draw_ladder(inputs, SHOWN)[1].to_pylist() if row["method"] == SINGLE]
    assert single[0]["from_single"] == 0


def test_where_evidence_is_the_prior_the_figure_says_so(inputs):
    assert not draw_controls(inputs, SHOWN)[0].axes[1].texts
    given = {"controls": inputs.table("controls", "figure"), "measures": inputs.table("measures", "measures")}
    alike = {
        name: table.set_column(table.schema.get_field_index("ap"), "ap", pa.array([0.5] * len(table)))
        for name, table in given.items()
    }
    figure, _ = draw_controls(SimpleNamespace(table=lambda name, _: alike[name]), SHOWN)
    assert ["rank every query alike" in text.get_text() for text in figure.axes[1].texts] == [True]


def test_settings_without_rankers_are_refused():
    with pytest.raises(InputError):
        Ladder(
            FoldData(world(1, 3, 0), world(1, 3, 10), world(1, 3, 20), 0),
            Options(**Beyond(**SMALL).solved() | {"parts": 9}, rounds=2, tol=1e-6, seed=1),
        ).climb()
