"""Figures, tables and observations from a small study: against plain loops where they compute, looked over where they show."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.studies.lin2011.lin_world import GRID, documents, fold, judged

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CONTROL, FINDING
from qdrank.evaluation.difficulty import difficulty
from qdrank.evaluation.significance import paired_t
from qdrank.figures.numbers import chosen, pairs
from qdrank.figures.style import save_figure
from qdrank.store import write
from qdrank.studies.lin2011 import STUDY, figures, tables
from qdrank.studies.lin2011.claims import TABLE2, declare
from qdrank.studies.lin2011.methods import METHODS, NAIVE, PAPER, RANKSVM, SELECT, TRANSFORM, run
from qdrank.studies.lin2011.observations import as_fits, mean_ranked, observations
from qdrank.studies.lin2011.singles import choose_single
from qdrank.studies.lin2011.sweep import all_choices, clusters_summary, curves, seed_measures_table, sweep
from qdrank.studies.making import Inputs, Shown

INTERVAL = {"level": 0.95, "resamples": 200, "seed": 1}
OPTIONS = {"ms": [2, 5], "lambdas": [0.1, 0.01], "ts": [1, 4], "ks": [1, 3]}
CLASSES = {"hard": [1, 3], "normal": [4, 20], "easy": [21, None]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All artifacts of the small study, as files."""
    study, folder = fold(), tmp_path_factory.mktemp("lin")
    swept = sweep(study, GRID)
    found = curves("fold1", study, swept, GRID, 5)
    seeds = seed_measures_table("fold1", study, swept, TABLE2)
    single = choose_single("fold1", documents(), [0.1, 0.01], tol=1e-6, seed=1)[1]
    baselines = as_fits(seeds)
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
        "seeds": ("measures", seeds),
        "curve": ("figure", found.curve),
        "ranked": ("figure", found.ranked),
        "controls": ("table", found.controls),
        "clusters": ("table", clusters_summary("fold1", study)),
        "choices": ("choices", all_choices("fold1", swept, single)),
        "baselines": ("measures", baselines),
        "judged": ("judged", judged().to_table()),
        "topics": ("topics", topics),
    }
    for name, (kind, table) in kinds.items():
        write(folder / f"{name}.parquet", kind, table)
    inputs = Inputs({name: [str(folder / f"{name}.parquet")] for name in kinds})
    return inputs, Shown("toy", "Toy", ["fold1"], INTERVAL, {"classes": CLASSES})


def rows_of(made, name):
    return made[0].table(name, "measures").to_pylist()


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
    curve = made[0].table("curve", "figure").to_pylist()
    for row in figures.draw_clusters(*made)[1].to_dict("records"):
        own = [r for r in curve if r["method"] == row["method"] and r["m"] == row["m"]]
        by_seed = [np.mean([r["ap"] for r in own if r["seed"] == s]) for s in (1, 2)]
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
    seeds = rows_of(made, "seeds")
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
    seeds = tables.seeds_table(inputs.frame("seeds", "measures"), inputs.frame("choices", "choices"))
    seeds = seeds.to_dict("records")
    assert len([r for r in seeds if r["method"] == "Naive"]) == 2
    assert all(r["settings by fold"] for r in seeds)
    assert len(tables.clusters_table(inputs.frame("clusters", "table"))) == 4 * 2
    controls = tables.controls_table(inputs.frame("controls", "table"))
    assert controls["clusters"].tolist() == [2, 5]


# ---- claims -----------------------------------------------------------------------------------------------------------


def test_claims_are_judged(made):
    inputs, _ = made
    classes = difficulty(judged(), CLASSES)
    found = observations(
        *(
            inputs.table(name, kind)
            for name, kind in (("seeds", "measures"), ("curve", "figure"), ("ranked", "figure"))
        ),
        classes,
        inputs.table("baselines", "measures"),
    )
    declaration = declare(OPTIONS)
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
    seeds = rows_of(made, "seeds")
    for value, query, fit in zip(part.value, part.query_id, part.fit, strict=True):
        own = {r["seed"]: r["ap"] for r in seeds if r["query_id"] == query and r["method"] == SELECT}
        base = [r["ap"] for r in seeds if r["query_id"] == query and r["method"] == RANKSVM]
        assert value == pytest.approx(own[fit + 1] - base[0])
    (row,) = [row for row in table.to_pylist() if row["claim"] == f"{SELECT} - {RANKSVM}"]
    assert row["fits"] == 2


def test_a_share_of_measures_is_counted_per_query(made):
    found = observations(
        made[0].table("seeds", "measures"),
        made[0].table("curve", "figure"),
        made[0].table("ranked", "figure"),
        difficulty(judged(), CLASSES),
    )
    values = {(r["method"], r["query_id"], r["seed"]): r for r in rows_of(made, "seeds")}
    part = found[f"most {TRANSFORM}"]["difference"]
    for value, query, fit in zip(part.value, part.query_id, part.fit, strict=True):
        apart = [round(values[TRANSFORM, query, fit + 1][n] - values[RANKSVM, query, 0][n], 12) for n in TABLE2]
        assert value == pytest.approx((sum(a > 0 for a in apart) - sum(a < 0 for a in apart)) / len(TABLE2))


def test_worse_on_easy_queries_is_ranksvm_less_the_method(made):
    wide = {"hard": [1, 1], "normal": [2, 2], "easy": [3, None]}
    tables_ = [made[0].table(n, k) for n, k in (("seeds", "measures"), ("curve", "figure"), ("ranked", "figure"))]
    found = observations(*tables_, difficulty(judged(), wide))
    whole = found[f"{SELECT} - {RANKSVM}"]["difference"]
    easy = found[f"easy {SELECT}"]["difference"]
    place = {key: i for i, key in enumerate(zip(whole.query_id, whole.fit, strict=True))}
    assert easy.value == pytest.approx([-whole.value[place[key]] for key in zip(easy.query_id, easy.fit, strict=True)])


def test_the_place_is_judged_with_a_hundred_models():
    rng = np.random.default_rng(0)
    best = -np.sort(-rng.random((30, 100)), axis=1)
    rows = [
        {"fold": "f", "models": "local", "seed": s, "query_id": f"q{i:02d}", "single": 0.8, "ap": best[i]}
        for s in (1, 2)
        for i in rng.permutation(30)
    ]
    table = pa.Table.from_pylist(rows)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(np.concatenate([r["ap"] for r in rows])), 100)
    table = table.set_column(table.column_names.index("ap"), "ap", fixed)
    ids, found, single = mean_ranked(table, "local")
    assert ids.tolist() == [f"q{i:02d}" for i in range(30)]
    assert found == pytest.approx(best)
    assert single == pytest.approx(0.8)


def test_methods_that_are_run():
    class Section:
        random = True

    assert run(Section()) == [method.name for method in METHODS]
    Section.random = False
    assert run(Section()) == [method.name for method in METHODS if not method.name.endswith("-random")]
