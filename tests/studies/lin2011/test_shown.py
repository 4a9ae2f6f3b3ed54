"""Figures, tables and observations from a small study: against plain loops where they compute, looked over where they show."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.studies.lin2011.lin_world import GRID, documents, fold, judged

from qdrank.evaluation.comparison import paired_t
from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CONTROL, FINDING
from qdrank.evaluation.values import observe, pairs
from qdrank.figures.numbers import chosen
from qdrank.figures.style import save_figure
from qdrank.store import write
from qdrank.store.schemas import shape_of
from qdrank.studies.lin2011 import STUDY, figures, tables
from qdrank.studies.lin2011.claims import TABLE2, declare
from qdrank.studies.lin2011.methods import NAIVE, PAPER, RANKSVM, SELECT, TRANSFORM
from qdrank.studies.lin2011.scoring import Bounds, clusters_summary, seed_choices, seed_runs, values_tables
from qdrank.studies.lin2011.singles import choose_single
from qdrank.studies.lin2011.tables import _place, gather
from qdrank.studies.making import Inputs, Shown

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}
OPTIONS = {"ms": [2, 5], "lambdas": [0.1, 0.01], "ts": [1, 4], "ks": [1, 3]}
CLASSES = {"hard": [1, 3], "normal": [4, 20], "easy": [21, None]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All artifacts of the small study, as files."""
    study, folder = fold(), tmp_path_factory.mktemp("lin")
    runs = seed_runs("fold1", study, GRID, TABLE2)
    found = [Bounds.of(one, 5) for one in runs]
    values = pa.concat_tables(values_tables(runs))
    single = choose_single("fold1", documents(), [0.1, 0.01], tol=1e-6, seed=1)[1]
    choices = [*single.to_pylist(), *seed_choices(runs)]
    baselines = values.filter(pc.is_null(values.column("x"))).drop_columns(["role", "x"])
    names = baselines.column("method").to_pylist()
    renamed = {NAIVE: "listnet", SELECT: "bordacount", TRANSFORM: "bordacount-high", RANKSVM: "reference"}
    kept = baselines.take([i for i, name in enumerate(names) if name in renamed])
    column = pa.array([renamed[name] for name in kept.column("method").to_pylist()])
    baselines = kept.set_column(kept.column_names.index("method"), "method", column)
    ids = judged().query_id
    topics = pa.table(
        {
            "query_id": pa.array(ids, pa.string()),
            "part": pa.array(judged().part, pa.string()),
            "text": pa.array([f"words of {name}" for name in ids], pa.string()),
            "type": pa.array([None] * len(ids), pa.string()),
            "query_columns": pa.array([[]] * len(ids), pa.list_(pa.float64())),
        }
    )
    kinds = {
        "values": ("values", values),
        "ranked": ("figure", pa.concat_tables([table for one in found for table in one.ranked])),
        "controls": ("table", pa.Table.from_pylist([row for one in found for row in one.controls])),
        "clusters": ("table", clusters_summary("fold1", study)),
        "choices": ("choices", pa.Table.from_pylist(choices, shape_of("choices").schema({}))),
        "baselines": ("measures", baselines),
        "judged": ("judged", judged().to_table()),
        "topics": ("topics", topics),
    }
    for name, (kind, table) in kinds.items():
        write(folder / f"{name}.parquet", kind, table)
    inputs = Inputs({name: [str(folder / f"{name}.parquet")] for name in kinds})
    return inputs, Shown("toy", "Toy", ["fold1"], INTERVAL, {"classes": CLASSES})


def rows_of(made):
    """Values with the settings chosen among all."""
    return [row for row in made[0].table("values", "values").to_pylist() if row["x"] is None]


def mean(rows, method, name="ap"):
    return np.mean([row[name] for row in rows if row["method"] == method])


# ---- figures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [figures.draw_clusters, figures.draw_places, figures.draw_difficulty])
def test_figures_have_the_same_bytes_twice(made, draw, tmp_path):
    for name in ("a", "b"):
        drawn, numbers = draw(*made)
        save_figure(drawn, {"svg": tmp_path / f"{name}.svg"})
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert len(numbers)


def test_figure_2_has_means_over_queries_and_seeds(made):
    values = made[0].table("values", "values").to_pylist()
    for row in figures.draw_clusters(*made)[1].to_dict("records"):
        own = [r for r in values if r["method"] == row["method"] and r["x"] == row["m"]]
        by_seed = [np.mean([r["ap"] for r in own if r["fit"] == s]) for s in (1, 2)]
        assert row["mean"] == pytest.approx(np.mean(by_seed))
        assert (row["seed_least"], row["seed_most"]) == pytest.approx((min(by_seed), max(by_seed)))


def test_figure_3_places_ranksvm_among_the_models():
    means = np.array([0.9, 0.7, 0.5, 0.1])
    assert figures.place_of(means, 0.6) == pytest.approx(2.5)
    assert figures.place_of(means, 0.95) == 1
    assert figures.place_of(means, 0.0) == 4


def test_figure_3_has_means_at_every_place(made):
    ranked = made[0].table("ranked", "figure").to_pylist()
    for row in figures.draw_places(*made)[1].to_dict("records"):
        own = [r["ap"][row["place"] - 1] for r in ranked if r["models"] == row["models"]]
        assert row["mean"] == pytest.approx(np.mean(own))


def test_figure_4_counts_queries(made):
    found = figures.draw_difficulty(*made)[1]
    relevant = [int((judged().y[a:b] > 0).sum()) for a, b in zip(judged().offsets, judged().offsets[1:], strict=False)]
    assert found.set_index("relevant")["queries"].to_dict() == {r: relevant.count(r) for r in set(relevant)}


# ---- tables -----------------------------------------------------------------------------------------------------------


def test_tables_1_to_4(made):
    found = tables.tabulate(*made)
    assert set(found) == set(STUDY.tables[0].shows)
    seeds = rows_of(made)
    first = {(r["method"], r["input"]): r for r in found["lin-table1"].to_dict("records")}
    assert first["BordaCount", "ranks: 1 is best"]["MAP"] == pytest.approx(mean(seeds, SELECT))
    assert first["BordaCount", "ranks: 1 is worst (upside down)"]["MAP"] == pytest.approx(mean(seeds, TRANSFORM))
    assert first["SelectRanker", "features made of the same ranks"]["MAP"] == pytest.approx(mean(seeds, SELECT))
    stage = "first stage (reference)"
    assert first[stage, ""]["MAP"] == pytest.approx(mean(seeds, RANKSVM))
    second = {r["method"]: r for r in found["lin-table2"].to_dict("records")}
    assert stage in second
    assert list(second)[:4] == ["RankSVM", "Naive", "SelectRanker", "Transform"]
    assert "ListNet" in second
    apart = mean(seeds, SELECT) - mean(seeds, RANKSVM)
    assert second["SelectRanker"]["MAP: difference"] == pytest.approx(apart)
    assert ("+" in second["SelectRanker"]["MAP"]) == (apart > 0)
    third = [r for r in found["lin-table3"].to_dict("records") if r["class"] == "all" and r["measure"] == "MAP"]
    assert {r["method"]: r["mean"] for r in third}["Transform"] == pytest.approx(mean(seeds, TRANSFORM))
    assert {r["method"] for r in third} == {"RankSVM", "Naive", "SelectRanker", "Transform", stage}


def test_a_star_needs_what_a_verdict_needs():
    """Five queries of 400 with another first document: p = .025, and next to nothing behind it."""
    five, many = np.zeros(400), np.random.default_rng(1).normal(0.1, 0.3, 400)
    five[:5] = 1.0
    ids = [f"q{i}" for i in range(400)]
    parts = [(RANKSVM, np.zeros(400)), (NAIVE, five), (SELECT, many)]
    values = pd.concat(pd.DataFrame({"method": name, "query_id": ids, "fit": 1, "p@1/letor4": v}) for name, v in parts)
    for methods, starred in (([RANKSVM, NAIVE], []), ([RANKSVM, SELECT], [SELECT])):
        marks = tables._marks(chosen(values, methods), "p@1/letor4")
        assert [name for name in methods if marks[name].endswith("*")] == starred
        assert paired_t(pairs(values, methods[1], RANKSVM, "p@1/letor4")).p < 0.05


def test_a_star_is_guarded_at_the_level_of_one_of_its_methods():
    """80 queries are enough for one comparison, and not for one of six."""
    names = [RANKSVM, SELECT, NAIVE, TRANSFORM, "a", "b", "c"]
    drawn = np.random.default_rng(1).normal(0.3, 0.3, (7, 80))
    drawn[0] = 0
    ids = [f"q{i}" for i in range(80)]
    values = pd.concat(pd.DataFrame({"method": n, "query_id": ids, "ap": v}) for n, v in zip(names, drawn, strict=True))
    assert tables._marks(chosen(values, names[:2]), "ap")[SELECT].endswith("*")
    assert not [mark for mark in tables._marks(values, "ap").values() if mark.endswith("*")]


def test_table_4_has_the_largest_gains_and_losses_with_words(made):
    rows = [r for r in tables.tabulate(*made)["lin-table4"].to_dict("records") if r["method"] == "Transform"]
    gains = [r["difference"] for r in rows if r[""] == "gain"]
    losses = [r["difference"] for r in rows if r[""] == "loss"]
    assert gains == sorted(gains, reverse=True)
    assert losses == sorted(losses)
    assert all(gain > 0 for gain in gains)
    assert all(loss < 0 for loss in losses)
    assert all(r["words"] == f"words of {r['query']}" for r in rows)
    assert all(r["difference"] == pytest.approx(r["Transform"] - r["RankSVM"]) for r in rows)


def test_details(made):
    inputs, _ = made
    seeds = tables.seeds_table(tables.at_chosen(inputs.frame("values", "values")), inputs.frame("choices", "choices"))
    seeds = seeds.to_dict("records")
    assert len([r for r in seeds if r["method"] == "Naive"]) == 2
    assert all(r["settings by fold"] for r in seeds)
    assert len(tables.clusters_table(inputs.frame("clusters", "table"))) == 4 * 2
    controls = tables.controls_table(inputs.frame("controls", "table"))
    assert controls["clusters"].tolist() == [2, 5]


# ---- claims -----------------------------------------------------------------------------------------------------------


def test_claims_are_judged(made):
    declaration = declare(OPTIONS)
    found = observe(declaration, *gather(*made))
    table = decide(declaration, {"toy": found}, dataset="toy")
    names = set(table.column("claim").to_pylist())
    # the place needs a hundred models, and no query here is easy
    absent = {"place", f"easy {SELECT}", f"easy {TRANSFORM}"}
    assert {claim.name for claim in declaration} - names <= absent | {
        f"{c} {m}" for c in ("hard", "normal") for m in PAPER
    }
    assert {claim.purpose for claim in declaration} == {FINDING, CONTROL}
    assert "8" in declaration.claims[0].budget
    part = found[f"{SELECT} - {RANKSVM}"]["difference"]
    seeds = rows_of(made)
    for (place, fit), value in np.ndenumerate(part.value):
        query = part.query_id[place]
        own = {r["fit"]: r["ap"] for r in seeds if r["query_id"] == query and r["method"] == SELECT}
        base = [r["ap"] for r in seeds if r["query_id"] == query and r["method"] == RANKSVM]
        assert value == pytest.approx(own[fit + 1] - base[0])
    (row,) = [row for row in table.to_pylist() if row["claim"] == f"{SELECT} - {RANKSVM}"]
    assert row["fits"] == 2


def test_a_share_of_measures_is_counted_per_query(made):
    _, found = gather(*made)
    values = {(r["method"], r["query_id"], r["fit"]): r for r in rows_of(made)}
    part = found[f"most {TRANSFORM}"]["difference"]
    for (place, fit), value in np.ndenumerate(part.value):
        query = part.query_id[place]
        apart = [round(values[TRANSFORM, query, fit + 1][n] - values[RANKSVM, query, 0][n], 12) for n in TABLE2]
        assert value == pytest.approx((sum(a > 0 for a in apart) - sum(a < 0 for a in apart)) / len(TABLE2))


def test_worse_on_easy_queries_is_ranksvm_less_the_method(made):
    wide = {"hard": [1, 1], "normal": [2, 2], "easy": [3, None]}
    inputs, shown = made
    found = observe(declare(OPTIONS), *gather(inputs, replace(shown, options={"classes": wide})))
    whole = found[f"{SELECT} - {RANKSVM}"]["difference"]
    easy = found[f"easy {SELECT}"]["difference"]
    place = [whole.query_id.tolist().index(query) for query in easy.query_id]
    assert easy.value == pytest.approx(-whole.value[place])


def test_the_place_is_judged_with_a_hundred_models():
    rng = np.random.default_rng(0)
    best = -np.sort(-rng.random((30, 100)), axis=1)
    rows = [
        {"fold": "f", "models": "local", "seed": s, "query_id": f"q{i:02d}", "single": 0.8, "ap": best[i]}
        for s in (1, 2)
        for i in rng.permutation(30)
    ]
    found = _place(pd.DataFrame(rows))["place"]
    assert found["rise"].query_id.tolist() == [f"q{i:02d}" for i in range(30)]
    assert found["rise"].value == pytest.approx(np.repeat(best[:, [8]] - 0.8, 2, axis=1))
    assert found["fall"].value == pytest.approx(np.repeat(0.8 - best[:, [28]], 2, axis=1))
    assert _place(pd.DataFrame(rows).assign(ap=[best[0, :5]] * 60)) == {}
