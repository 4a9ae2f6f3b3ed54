"""The rankers of a fold, their controls, and what is made of them, on data whose documents recur."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from qdrank.datasets.judged import Judged
from qdrank.errors import InputError
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, HOLDS
from qdrank.evaluation.measuring import measures_table
from qdrank.queries.others import other_rows
from qdrank.store import write
from qdrank.studies.beyond import STUDY, observations, tables
from qdrank.studies.beyond.checks import checks_table, recurrence_table, values_table, without_near
from qdrank.studies.beyond.claims import PAST, declare
from qdrank.studies.beyond.controls_figure import draw as draw_controls
from qdrank.studies.beyond.fold import (
    FoldData,
    Ladder,
    control_values,
    method_scores,
    setting_choices,
)
from qdrank.studies.beyond.ladder_figure import draw as draw_ladder
from qdrank.studies.beyond.methods import CHOSEN, CONTROLS, METHODS, SINGLE
from qdrank.studies.beyond.options import Options
from qdrank.studies.beyond.retrieved import FORMS
from qdrank.studies.beyond.settings import Beyond
from qdrank.studies.making import Inputs, Shown

SMALL = {
    "lambdas": [0.1, 0.01],
    "leaves": [4],
    "min_leaf": [5, 20],
    "ks": [0.3],
    "interactions": [10],
    "components": 2,
    "near": [0.8],
}
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
    return Ladder(FoldData(world(1, 60, 0), world(1, 30, 100), world(1, 120, 200), 0), options).climb()


@pytest.fixture(scope="module")
def inputs(ladder, tmp_path_factory):
    """Artifacts of a data set with one fold."""
    folder, test = tmp_path_factory.mktemp("beyond"), ladder.data.test[0]
    names = [method.name for method in METHODS]
    scores = method_scores(ladder, names)
    both = [values_table("fold1", test.query_id, control_values(ladder), 0.0)]
    both.append(values_table("fold1", test.query_id, without_near(ladder, 0.8), 0.8))
    made = {
        "measures": (
            "measures",
            measures_table(list(tables.TABLED_MEASURES), test, np.stack(list(scores.values()), 1), names, "fold1"),
        ),
        "controls": ("figure", pa.concat_tables(both)),
        "choices": ("choices", setting_choices("fold1", ladder)),
        "checks": ("figure", checks_table("fold1", ladder)),
        "recurrence": ("figure", recurrence_table("fold1", ladder)),
    }
    for name, (shape, table) in made.items():
        write(folder / f"{name}.parquet", shape, table)
    # these data are no raw text, so that nothing is retrieved
    return Inputs({form: [] for form in FORMS} | {name: [str(folder / f"{name}.parquet")] for name in made})


SHOWN = Shown("toy", "Toy", ["fold1"], INTERVAL, {})


def test_evidence_finds_what_features_do_not_say(ladder):
    """In this world documents recur and topics matter, so that evidence is chosen and beats its control."""
    values = control_values(ladder)
    assert ladder.chosen() in ("beyond-evidence", "beyond-trees-evidence")
    assert set(values) >= set(CONTROLS.values())
    scores = method_scores(ladder, [CHOSEN, ladder.chosen()])
    np.testing.assert_array_equal(scores[CHOSEN], scores[ladder.chosen()])


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
    found = observations.gather(inputs, SHOWN)
    declaration = declare(Beyond(**SMALL).model_dump())
    assert set(found) == {claim.name for claim in declaration if not claim.family.startswith(PAST)}
    verdicts = {row["claim"]: row for row in decide(declaration, {"toy": found}, dataset="toy").to_pylist()}
    for claim in declaration:
        if claim.purpose == CHECK:
            assert verdicts[claim.name]["verdict"] == HOLDS, claim.name
    assert verdicts["control"]["verdict"] == HOLDS


def test_tables_and_figures_have_their_numbers(inputs):
    made = tables.tabulate(inputs, SHOWN)
    shown = [output for one in STUDY.tables[:1] for output in one.shows]
    assert list(made) == shown
    tests = made["beyond-tests"].to_pylist()
    assert len(tests) == 8 * 3 + 1 + 2 + 2  # three each, the other gate, the fixed mixture, near-duplicates
    assert all(row["p, Holm"] >= row["p, t test"] and row["detectable"] >= 0 for row in tests)
    assert len(made["beyond-methods"]) == len(METHODS)
    assert made["beyond-documents"].num_rows == 2
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
