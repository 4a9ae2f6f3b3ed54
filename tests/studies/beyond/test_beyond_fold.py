"""The rankers of a fold, their controls, and what is made of them, on data whose documents recur."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.text.test_judged_text import made

from qdrank.datasets.judged import Judged, load_judged
from qdrank.errors import InputError
from qdrank.evaluation.comparison import DETECTABLE
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, HOLDS
from qdrank.evaluation.measuring import measures_table
from qdrank.evaluation.values import observe
from qdrank.figures.numbers import where
from qdrank.learners.trees import LambdaMART
from qdrank.rankers.base import OfOthers, other_rows
from qdrank.rankers.bilinear import Mixture
from qdrank.rankers.served import read_ranker
from qdrank.rankers.stored import state_table
from qdrank.rankers.tuning import query_values_of
from qdrank.store import read, write
from qdrank.studies.beyond import STUDY, tables
from qdrank.studies.beyond.claims import PAST, declare
from qdrank.studies.beyond.figures import draw_controls, draw_ladder
from qdrank.studies.beyond.fold import Ladder, Rejudging, _leak, checks_table, recurrence_table
from qdrank.studies.beyond.methods import (
    CHOSEN,
    CONTROL_METHODS,
    CONTROLS,
    FIXED,
    FORMS,
    GATED,
    METHODS,
    OF_CHOSEN,
    OTHER_GATE,
    SINGLE,
)
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.settings import Beyond
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.running import View
from qdrank.text.extract import TextSettings, judged_text

SMALL = {
    "lambdas": [0.1, 0.01],
    "leaves": [4],
    "min_leaf": [5, 20],
    "ks": [0.3],
    "interactions": [10],
    "components": 2,
    "near": [0.8],
}
#: Controls of which one fit is all there is to know.
ONCE = CONTROLS["beyond-evidence"]
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
    return Options(**Beyond(**SMALL).solved(), rounds=8, tol=1e-6, seed=1, reference=0)


def of_world(options, parts=None, refits=5):
    """A fold whose methods have not been run."""
    parts = parts or {"train": world(1, 60, 0), "vali": world(1, 30, 100), "test": world(1, 120, 200)}
    return Ladder("fold1", {"": View(parts, None)}, options, measure="ap", seed=1, refits=refits)


@pytest.fixture(scope="module")
def ladder(options):
    return of_world(options).run(METHODS).run(CONTROL_METHODS)


def values_of(ladder, name, x=None):
    """Values (n_queries, n_fits) of a control, or without near-duplicates."""
    table = pa.concat_tables(ladder.values)
    rows = table.filter((pc.field("method") == name) & (pc.field("x").is_null() if x is None else pc.field("x") == x))
    return rows.column("ap").to_numpy().reshape(-1, ladder.test.n_queries).T


@pytest.fixture(scope="module")
def files(ladder, tmp_path_factory):
    """Files of a fold by name."""
    folder = tmp_path_factory.mktemp("fold")
    names = [f"{of}{method.name}" for method in METHODS for of in ("", "served_", "refits_")]
    out = {name: str(folder / f"{name}.parquet") for name in (*names, "choices", "values")}
    ladder.write(out)
    return out


@pytest.fixture(scope="module")
def inputs(ladder, files, tmp_path_factory):
    """Artifacts of a data set with one fold."""
    folder, names = tmp_path_factory.mktemp("beyond"), [method.name for method in METHODS]
    scores = np.stack([ladder.scores[name][0] for name in names], axis=1)
    artifacts = {
        "measures": ("measures", measures_table(list(tables.TABLED_MEASURES), ladder.test, scores, names, "fold1")),
        "checks": ("figure", checks_table(ladder)),
        "recurrence": ("figure", recurrence_table(ladder)),
    }
    for name, (shape, table) in artifacts.items():
        write(folder / f"{name}.parquet", shape, table)
    made = {name: [str(folder / f"{name}.parquet")] for name in artifacts}
    # these data are no raw text, so that nothing is retrieved
    return Inputs({form: [] for form in FORMS} | made | {name: [files[name]] for name in ("choices", "values")})


SHOWN = Shown("toy", "Toy", ["fold1"], INTERVAL, {})


def test_evidence_finds_what_features_do_not_say(ladder, files):
    """In this world documents recur and topics matter, so that evidence is chosen and beats its control."""
    chosen = ladder.same[CHOSEN]
    assert chosen in ("beyond-evidence", "beyond-trees-evidence")
    assert read(files[CHOSEN], "scores").equals(read(files[chosen], "scores"))
    assert read(files[f"refits_{CHOSEN}"], "refits").equals(read(files[f"refits_{chosen}"], "refits"))
    stored, first = (read_ranker(files[f"served_{name}"]) for name in (CHOSEN, chosen))
    assert stored.method == CHOSEN
    assert state_table(replace(stored, method=chosen)).equals(state_table(first))
    np.testing.assert_array_equal(values_of(ladder, OF_CHOSEN), values_of(ladder, CONTROLS[chosen]))
    assert {*CONTROLS.values(), OTHER_GATE, OF_CHOSEN} <= {*ladder.scores}


def test_without_near_duplicates_evidence_is_other(ladder):
    for name in ("beyond-evidence", CONTROLS["beyond-evidence"]):
        apart, tuned = values_of(ladder, name, 0.8)[:, 0], ladder.made[name]
        evidence = type(tuned.evidence)(reference=0, exclude_near=0.8)
        evidence.gammas = getattr(tuned.evidence, "gammas", None)
        fitted = replace(tuned, base=tuned.base.fresh(), evidence=evidence)
        view = ladder.views[""].parts
        expected = fitted.fit(*view["train"], view["vali"]).predict(*view["test"])
        np.testing.assert_array_equal(apart, query_values_of("ap", ladder.test, expected))


def test_mixtures_are_fitted_again_on_trees_that_are_grown_once(ladder, monkeypatch):
    """As if each were fitted by itself: all queries and the parts of the first, not of each of three."""
    parts, names = ladder.views[""].parts, (FIXED, GATED, OTHER_GATE)
    plain = [getattr(ladder.made[name], "base", ladder.made[name]) for name in names]
    mixtures = [Mixture(**{f.name: getattr(one, f.name) for f in fields(one) if f.init}).redrawn(11) for one in plain]
    whole = [*mixtures[:2], OfOthers(base=mixtures[2], seed=11)]
    expected = [one.fit(*parts["train"], parts["vali"]).predict(*parts["test"]) for one in whole]
    grows, calls = LambdaMART.fit, []
    monkeypatch.setattr(LambdaMART, "fit", lambda *given, **more: calls.append(given) or grows(*given, **more))
    again = [ladder.made[name].again(11, parts["train"], parts["vali"]).predict(*parts["test"]) for name in names]
    assert np.array_equal(again, expected)
    assert len({one.tobytes() for one in expected}) == len(names)
    assert len(calls) == 1 + ladder.options.parts


def test_the_control_of_the_chosen_ranker_has_every_fit(options):
    """A control that draws nothing is fitted once, and serves every fit of the chosen ranker."""
    best = "beyond-evidence"
    wanted = [method for method in METHODS if method.name == best]
    controls = [method for method in CONTROL_METHODS if method.control_of in (best, CHOSEN)]
    chosen = replace(METHODS[-1], same_as=lambda _: best)
    run = of_world(options, refits=3).run([*wanted, chosen, *controls])
    assert [len(run.scores[name]) for name in (best, CHOSEN, CONTROLS[best], OF_CHOSEN)] == [1, 3, 1, 3]
    np.testing.assert_array_equal(values_of(run, OF_CHOSEN), np.repeat(values_of(run, CONTROLS[best]), 3, axis=1))


def test_a_control_is_not_its_method_again(ladder):
    """With the same vectors, neighbours or columns a control would rank as its method does, to the last bit."""
    pairs = [*((name, control) for name, control in CONTROLS.items() if name != GATED), (GATED, OTHER_GATE)]
    for name, control in pairs:
        assert (ladder.scores[name][0] != ladder.scores[control][0]).any(), name


def test_controls_that_draw_are_drawn_and_fitted_again(ladder):
    for name in {*CONTROLS.values()} - {FIXED}:
        assert values_of(ladder, name).shape[1] == (1 if name == ONCE else 5)
    for name in ("beyond-knn", "beyond-kernel", "beyond-bilinear"):
        drawn = values_of(ladder, CONTROLS[name])
        assert (drawn[:, 0] != drawn[:, 1]).any()
        assert (drawn[:, 1] != drawn[:, 2]).any()


def test_values_are_paired_by_fit(inputs, ladder):
    found = observe(declare(Beyond(**SMALL).model_dump()), *tables.gather(inputs, SHOWN))
    control = values_of(ladder, CONTROLS["beyond-knn"])
    assert control.shape[1] == 5
    single = ladder.made["beyond-knn"].predict(*ladder.views[""].parts["test"])
    expected = query_values_of("ap", ladder.test, single)[:, None] - control
    np.testing.assert_allclose(found["neighbours - random"]["nearest queries"].value, expected, atol=1e-12)


@pytest.mark.parametrize("judged_candidates", [False, True])
def test_the_check_finds_candidates_that_judgments_bring(options, tmp_path, judged_candidates):
    settings = TextSettings(n_top=5, judged=judged_candidates)
    write(tmp_path / "judged.parquet", "judged", judged_text(made(), settings).judged)
    data = load_judged(tmp_path / "judged.parquet")
    view = View({"train": (data, np.zeros((data.n_queries, 1)))}, None)
    options = Options(**vars(options) | {"reference": 20})
    leak = _leak(SimpleNamespace(views={"": view}, options=options), Rejudging(made(), settings))
    assert (leak > 0.01) if judged_candidates else (leak == 0)


def test_every_ranker_has_the_same_budget(ladder):
    tried = pa.Table.from_pylist(ladder.choices).to_pandas().groupby("method").size()
    assert {*tried[[*tried.index.difference([CHOSEN, OF_CHOSEN])]]} == {2}
    with pytest.raises(ValueError, match="as many settings"):
        Beyond(**SMALL | {"leaves": [4, 7]})


def test_the_labels_of_test_queries_choose_nothing(ladder, options):
    parts = ladder.views[""].parts
    test, vectors = parts["test"]
    turned = Judged(test.query_id, test.part, test.offsets, test.doc_id, 1 - test.y, test.X)
    again = of_world(options, parts | {"test": (turned, vectors)}, refits=1).run(METHODS).run(CONTROL_METHODS)
    for name, scores in ladder.scores.items():
        np.testing.assert_array_equal(again.scores[name][0], scores[0])


def test_other_vectors_are_those_of_other_queries():
    vectors = np.arange(14.0).reshape(7, 2)
    others = other_rows(vectors, 3)
    assert sorted(others[:, 0]) == sorted(vectors[:, 0])
    assert (others != vectors).all()


def test_checks_hold_and_claims_are_judged(inputs):
    found = observe(declare(Beyond(**SMALL).model_dump()), *tables.gather(inputs, SHOWN))
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
    tests = tabled["beyond-tests"].to_dict("records")
    assert len(tests) == 8 * 3 + 1 + 2 + 2  # three each, the other gate, the fixed mixture, near-duplicates
    assert all(row["p (Holm)"] >= row["p (t test)"] and row[DETECTABLE] >= 0 for row in tests)
    assert len(tabled["beyond-methods"]) == len(METHODS)
    assert tabled["beyond-documents"].num_rows == 2
    for draw in (draw_ladder, draw_controls):
        figure, table = draw(inputs, SHOWN)
        assert len(figure.axes) >= 1
        assert len(table) > 1
    assert where(draw_ladder(inputs, SHOWN)[1], method=SINGLE)["from_single"].tolist() == [0]


def test_where_evidence_is_the_prior_the_figure_says_so(inputs):
    assert not draw_controls(inputs, SHOWN)[0].axes[1].texts
    alike = SimpleNamespace(frame=lambda *name: inputs.frame(*name).assign(ap=0.5))
    figure, _ = draw_controls(alike, SHOWN)
    assert ["rank every query alike" in text.get_text() for text in figure.axes[1].texts] == [True]


def test_more_parts_than_queries_are_refused(options):
    parts = {"train": world(1, 3, 0), "vali": world(1, 3, 10), "test": world(1, 3, 20)}
    with pytest.raises(InputError, match="cannot be divided"):
        of_world(Options(**vars(options) | {"parts": 9, "rounds": 2}), parts).run(METHODS)
