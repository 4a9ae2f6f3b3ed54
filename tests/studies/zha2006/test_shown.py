"""Tables, figures and observations: numbers that can be checked by hand, pictures that are drawn."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import wilcoxon
from tests.studies.zha2006.world import INTERVAL, OPTIONS, PAPER, Given, copies, shown, tables, values

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.evaluation.values import observe
from qdrank.figures.numbers import where
from qdrank.figures.style import save_figure
from qdrank.store import table_of
from qdrank.studies.zha2006 import STUDY, figures
from qdrank.studies.zha2006 import tables as made
from qdrank.studies.zha2006.claims import declare
from qdrank.studies.zha2006.methods import refit_kind
from qdrank.studies.zha2006.settings import Zha
from qdrank.studies.zha2006.tables import _halves, deviation, gather, measured

BUDGET = {
    "lam_alpha": [1, 10],
    "lam_beta": [1],
    "lam_h": [1],
    "trees": 5,
    "learning_rates": [0.1],
    "leaves": [7],
    "min_leaf": [20],
}


def given():
    cells, maps, objectives, choices = tables()
    topics = pa.Table.from_pylist([{"query_id": q, "type": t} for q, t in copies()[1].items()])
    given = {"cells": cells, "maps": maps, "objectives": objectives, "choices": choices, "topics": topics}
    return Given(**given, measures=first_stage_measures(cells, choices.column("measure")[0].as_py()))


def first_stage_measures(cells, measure):
    """Measures of the reference and of tuned BM25: here those of plain ridge, and half of them."""
    plain = values(cells, "ridge", "plain")
    tables = [
        pa.table(
            {
                "fold": plain.fold.tolist(),
                "method": [method] * len(plain.value),
                "query_id": plain.query_id.tolist(),
                measure: share * plain.value,
            }
        )
        for method, share in (("reference", 1.0), ("bm25-tuned", 0.5))
    ]
    return pa.concat_tables(tables)


def test_the_grid_has_a_row_for_each_cell_and_both_limits():
    cells, *_ = tables()
    rows = made.grid_table(measured(cells.to_pandas()), "ridge").pipe(table_of).to_pylist()
    assert [(row["lam_alpha"], row["lam_beta"]) for row in rows[:4]] == [
        ("1", "0.1"),
        ("1", "1"),
        ("10", "0.1"),
        ("10", "1"),
    ]
    assert (rows[-1]["lam_alpha"], rows[-1]["gain in %"], rows[-1]["p (Wilcoxon)"]) == ("inf", 0.0, 1.0)
    one, plain = values(cells, "ridge", "grid", PAPER), values(cells, "ridge", "plain")
    assert rows[3]["gain in %"] == pytest.approx(100 * (one.value.mean() / plain.value.mean() - 1))
    less = np.round(one.value - plain.value, 12)
    if (less != 0).any():
        expected = wilcoxon(less[less != 0], correction=False, method="auto").pvalue
        assert rows[3]["p (Wilcoxon)"] == pytest.approx(expected, rel=0.25)
    assert all(row["p (Holm, grid)"] >= row["p (Wilcoxon)"] for row in rows[:4])
    assert rows[-1]["p (Holm, grid)"] is None


def test_a_regressor_that_was_not_run_has_an_empty_grid():
    cells, *_ = tables()
    assert list(made.grid_table(where(measured(cells.to_pandas()), h="ridge"), "trees")) == ["note"]


def test_larger_penalties_bring_the_maps_to_rest():
    _, maps, *_ = tables()
    rows = [row for row in made.maps_table(maps.to_pandas()).to_dict("records") if row["h"] == "ridge"]
    spread = {(row["lam_alpha"], row["lam_beta"]): row for row in rows}
    assert spread["10", "1"]["variance of alpha"] < spread["1", "1"]["variance of alpha"]
    assert spread["10", "1"]["variance of beta"] < spread["10", "0.1"]["variance of beta"]


def test_tables_5_to_7_by_hand():
    found = made.tabulate_queries(given(), shown())
    _, maps, *_ = tables()
    rows = [r for r in maps.to_pylist() if (r["h"], r["kind"], r["role"]) == ("ridge", "grid", "test")]
    rows = [r for r in rows if (r["lam_alpha"], r["lam_beta"]) == PAPER]
    gain = np.array([r["value"] - r["plain"] for r in rows])
    own = [r for r in found["zha-table5"].to_dict("records") if (r["h"], r["queries of"]) == ("ridge", "test")]
    assert next(r for r in own if r["percentile"] == 50)["gain"] == pytest.approx(np.median(gain))
    own = [r for r in found["zha-table6"].to_dict("records") if (r["h"], r["queries of"]) == ("ridge", "test")]
    assert sum(r["queries"] for r in own) == len(rows)
    assert sum(r["queries"] * r["mean gain"] for r in own) == pytest.approx(gain.sum())
    assert own[0]["mean gain"] <= own[-1]["mean gain"]
    own = [r for r in found["zha-table7"].to_dict("records") if (r["h"], r["queries of"]) == ("ridge", "test")]
    assert own[-1]["queries"] == len(rows)
    assert own[-1]["mean gain"] == pytest.approx(gain.mean())
    key = np.array([abs(r["alpha"] ** 0.1 - 1) + abs(r["beta"] / 10) for r in rows])
    assert own[-1]["deviation from"] == pytest.approx(key.min())
    top = np.argsort(-key)[: own[0]["queries"]]
    assert own[0]["mean gain"] == pytest.approx(gain[top].mean())


def test_all_tables_are_made():
    found = made.tabulate(given(), shown()) | made.tabulate_queries(given(), shown())
    assert set(found) == {name for output in STUDY.tables for name in output.shows}
    assert all(len(table) for table in found.values())
    controls = found["zha-controls"].to_dict("records")
    assert [row["method"] for row in controls if row["h"] == "ridge"][-3] == "RankSVM"
    refits = next(row for row in controls if "refits" in row["method"])
    assert refits["refit deviation in %"] >= 0
    assert [row["method"] for row in controls[-2:]] == ["first stage (reference)", "BM25, tuned"]
    of_ridge = [row for row in controls if row["h"] == "ridge"]
    assert [round(row["gain in %"], 9) for row in of_ridge[-2:]] == [0, -50]
    assert "lam_h=" in next(row for row in controls if row["method"].startswith("plain"))["settings by fold"]


@pytest.mark.parametrize("draw", [figures.draw_map, figures.draw_gain, figures.draw_objective])
def test_figures_are_drawn_the_same_twice(draw, tmp_path):
    for name in ("a", "b"):
        figure, numbers = draw(given(), shown())
        assert len(numbers)
        save_figure(figure, {"svg": tmp_path / f"{name}.svg"})
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_groups_of_queries_have_the_guard_of_claims():
    """14 test queries make two groups without intervals; copies of them, under names of their own, make groups that have some."""
    numbers = figures.draw_gain(given(), shown())[1].pipe(table_of).to_pylist()
    of_test = [row for row in numbers if row["role"] == "test"]
    assert [row["queries"] for row in of_test] == [7, 7] * 2
    assert all(row["low"] is None and row["lacks"].startswith("too few queries: 7") for row in of_test)
    _, maps, *_ = tables()
    place = maps.schema.get_field_index("query_id")
    names = maps.column("query_id").to_pylist()
    copied = [maps.set_column(place, "query_id", [[f"{name}-{i}" for name in names]]) for i in range(20)]
    many = figures.draw_gain(Given(maps=pa.concat_tables(copied)), shown())[1].to_dict("records")
    trees = [row for row in many if (row["h"], row["role"]) == ("trees", "test")]
    assert [row["queries"] for row in trees] == [70] * 4
    kinds = ["grid", *(refit_kind("fixed", number) for number in range(1, OPTIONS.refits))]
    fits = [values(maps, "trees", kind, PAPER) for kind in kinds]
    gains = np.mean([fit.value - fit.plain for fit in fits], axis=0)
    whole = sum(row["queries"] * row["mean"] for row in trees) / 280
    assert whole == pytest.approx(100 * gains.mean() / fits[0].plain.mean())


def test_a_training_query_of_several_folds_is_one_query():
    _, maps, *_ = tables()
    place = maps.schema.get_field_index("fold")
    folds = [maps.set_column(place, "fold", [[fold] * len(maps)]) for fold in ("fold1", "fold2", "fold3")]
    once, thrice = (figures.draw_gain(Given(maps=one), shown())[1] for one in (maps, pa.concat_tables(folds)))
    assert thrice["queries"].tolist() == once["queries"].tolist()
    made_of = [made.tabulate_queries(Given(maps=one), shown()) for one in (maps, pa.concat_tables(folds))]
    tested = [where(one["zha-table7"], **{"queries of": "train"})["p (Holm)"].notna() for one in made_of]
    assert [set(one) for one in tested] == [{True}, {False}]
    np.testing.assert_allclose(thrice["mean"], once["mean"], rtol=1e-9)


def test_of_queries_adjusted_alike_the_first_are_taken():
    columns = {"query_id": list("abcdefghij"), "alpha": [2.0] * 10, "beta": [0.0] * 10, "plain": [1.0] * 10}
    rows = made.adjusted_rows(pd.DataFrame({**columns, "gain": np.arange(10.0)}))
    assert rows["mean gain"][0] == np.arange(rows["queries"][0]).mean()


def test_every_claim_is_judged():
    declared = declare(BUDGET)
    found = observe(declared, *gather(given(), shown()))
    assert {claim.name for claim in declared} == set(found)
    verdicts = decide(declared, {"copies": found}, dataset="copies").to_pylist()
    assert {row["verdict"] for row in verdicts} <= {HOLDS, FAILS, UNCLEAR}
    limits = [row for row in verdicts if row["claim"].endswith("limit")]
    assert [row["verdict"] for row in limits] == [HOLDS, HOLDS]
    assert all(row["budget"] for row in verdicts if row["unit"] == "share of DCG@5")


def test_observations_are_relative_to_the_plain_mean():
    cells, *_ = tables()
    found = observe(declare(BUDGET), *gather(given(), shown(targets="exp")))
    one, plain = values(cells, "trees", "atvt"), values(cells, "trees", "plain")
    by_fit = found["trees: atvt - plain"]["difference"].value
    assert by_fit.shape == (len(one.value), OPTIONS.refits)
    assert by_fit[:, 0].mean() == pytest.approx(one.value.mean() / plain.value.mean() - 1)
    for number in range(1, OPTIONS.refits):
        refits = [values(cells, "trees", refit_kind(kind, number)).value for kind in ("atvt", "plain")]
        assert by_fit[:, number] == pytest.approx((refits[0] - refits[1]) / plain.value.mean())
    assert found["trees: atvt - pairwise"]["difference"].value.shape == by_fit.shape
    assert found["ridge: atvt - plain"]["difference"].value.shape[1] == 1
    assert "ridge: recovered" not in found  # no types, no truth


def test_the_table_of_controls_has_all_fits():
    cells, _, _, choices = tables()
    none = pd.DataFrame({"method": [], "query_id": [], "value": [], "fit": []})
    table = made.controls_table(measured(cells.to_pandas()), choices.to_pandas(), INTERVAL, none)
    rows = {(row["h"], row["method"]): row for row in table.to_dict("records")}
    row = rows["boosted trees", "aTVT"]
    fits = [
        (values(cells, "trees", refit_kind("atvt", i)), values(cells, "trees", refit_kind("plain", i)))
        for i in range(3)
    ]
    base = fits[0][1].value.mean()
    gains = [100 * (a.value - b.value).mean() / base for a, b in fits]
    assert row["fits"] == OPTIONS.refits == 3
    assert row["gain in %"] == pytest.approx(np.mean(gains))
    assert row["spread of fits in %"] == pytest.approx(np.std(gains, ddof=1))
    assert rows["ridge", "aTVT"]["fits"] == 1


def test_which_queries_are_adjusted_is_asked_of_every_fit():
    cells, maps, *_ = tables()
    found = gather(given(), shown())[1]["trees: adjusted"]["difference"].value
    assert found.shape[1] == OPTIONS.refits
    base = values(cells, "trees", "plain").value.mean()
    for number in range(OPTIONS.refits):
        kind = refit_kind("fixed", number) if number else "grid"
        fit = values(maps, "trees", kind, PAPER)
        plain, fixed = (values(cells, "trees", refit_kind(one, number)).value for one in ("plain", "fixed"))
        key = deviation(fit.alpha.to_numpy(), fit.beta.to_numpy())
        order, gain, half = np.argsort(key, kind="stable"), ((fixed - plain) / base).to_numpy(), len(key) // 2
        expected = gain[order[-half:]].mean() - gain[order[:half]].mean()
        assert found[:, number].mean() == pytest.approx(expected)


def test_halves_compare_the_more_adjusted_with_the_others():
    key, gain = np.array([5.0, 1.0, 2.0, 9.0, 3.0]), np.array([1.0, 0.0, 0.0, 3.0, 7.0])
    sign = _halves(key)
    assert sign.tolist() == [1, -1, -1, 1, 0]
    assert (2 * sign * gain)[sign != 0].mean() == pytest.approx(gain[[0, 3]].mean() - gain[[1, 2]].mean())


def test_deviation_is_the_papers():
    assert deviation(np.array([1.0, 2.0]), np.array([0.0, -3.0])).tolist() == pytest.approx([0, 2**0.1 - 1 + 0.3])


def test_the_section_wants_the_papers_cell_in_its_grid():
    with pytest.raises(ValueError, match="must be among"):
        Zha(lam_alpha=[1.0])
    assert Zha().computed().keys() >= {"lam_alpha", "tol"}
    assert INTERVAL
