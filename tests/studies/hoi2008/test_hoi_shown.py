from math import prod

import numpy as np
import pyarrow as pa
import pytest
from tests.studies.hoi2008.ensemble_fold import documents, made

from qdrank.evaluation.deciding import decide
from qdrank.evaluation.declared import CHECK, FINDING
from qdrank.evaluation.values import observe
from qdrank.figures.numbers import where
from qdrank.figures.style import save_figure
from qdrank.rankers import FIRST_STAGES, REFERENCE
from qdrank.rankers.methods import GRIDS
from qdrank.store import write
from qdrank.store.schemas import SHAPES
from qdrank.studies.hoi2008 import STUDY, figures, tables, timing
from qdrank.studies.hoi2008.claims import LARGEST_GAP, OTHERS, declare
from qdrank.studies.hoi2008.methods import BASELINES, BY_NAME, METHODS, run
from qdrank.studies.hoi2008.settings import Hoi
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown

BUDGET = {"gammas": [0, 0.5], "tried_C": [1, 10], "tried_theta": [0.5], "tried_delta": [1]}
SHOWN = Shown("toy", "Toy", ["fold1"], {"level": 0.95, "resamples": 200, "seed": 1}, {"scale": "given"})


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hoi")
    run, solved, measures, curve = made()
    names = pa.table(
        {
            "number": pa.array(range(1, 7), pa.int32()),
            "name": [f"ranker {i}" for i in range(1, 7)],
            "reference": [True] + [False] * 5,
        }
    )
    artifacts = {
        "measures": ("measures", measures),
        "values": ("values", pa.concat_tables(run.values)),
        "weights": (ENSEMBLES_SHAPE, solved),
        "choices": ("choices", pa.Table.from_pylist(run.choices, SHAPES["choices"].schema({}))),
        "curves": ("values", curve),
        "columns": ("columns", names),
    }
    for name, (shape, table) in artifacts.items():
        write(folder / f"{name}.parquet", shape, table)
    return Inputs({name: [str(folder / f"{name}.parquet")] for name in artifacts})


@pytest.mark.parametrize(
    "draw",
    [figures.draw_methods, figures.draw_precision, figures.draw_gammas, figures.draw_weights, figures.draw_sizes],
    ids=lambda f: f.__name__,
)
def test_figures_are_drawn_with_the_numbers_behind_them(draw, inputs, tmp_path):
    figure, numbers = draw(inputs, SHOWN)
    assert len(numbers)
    save_figure(figure, {"png": tmp_path / "one.png"}, dpi=60)
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_figure_3_starts_at_ser(inputs):
    (_, means), (_, along) = figures.draw_methods(inputs, SHOWN), figures.draw_gammas(inputs, SHOWN)
    ser = means.set_index("method")["mean"]
    for row in where(along, gamma=0.0, method="sser").itertuples():
        assert row.mean == pytest.approx(ser["ser" if row.ties == "half" else "ser-file"])
        assert row.difference == 0


def test_gains_are_those_of_sser(inputs):
    _, rows = figures.draw_precision(inputs, SHOWN)
    mean = rows.dropna(subset="mean").set_index(["method", "measure"])["mean"]
    for row in rows.dropna(subset="against").itertuples():
        assert row.difference == pytest.approx(mean[row.method, row.measure] - mean[row.against, row.measure])


def test_shares_of_weights_sum_to_one(inputs):
    _, rows = figures.draw_weights(inputs, SHOWN)
    assert rows.groupby(["ties", "method"])["share"].sum().to_numpy() == pytest.approx([1] * 4)
    assert where(rows, number=6, ties="half")["used"].max() == 0


def test_tables(inputs):
    found = tables.tabulate(inputs, SHOWN)
    assert list(found) == list(STUDY.tables[0].shows)
    methods = {row["method"]: row for row in found["hoi-methods"].to_dict("records")}
    assert set(methods) == {BY_NAME[name].label for name in BY_NAME if name not in FIRST_STAGES or name == REFERENCE}
    assert methods["SSER"]["settings by fold"].startswith("gamma=")
    assert all(float(row["largest gap"]) <= LARGEST_GAP for row in found["hoi-solver"].to_dict("records"))
    folds = {row["method"]: row for row in found["hoi-folds"].to_dict("records")}
    assert folds["SER"]["fold1"] == pytest.approx(methods["SER"]["ap"])


def test_times_have_the_paper_s_beside_them():
    found = timing.trial(documents())
    assert all(value >= 0 for value in found.values())
    rows = {
        row["method"]: row
        for row in timing.times_table({"fold1": {**found, timing.SLOW: 2.0, "SER": 0.01}}).to_pylist()
    }
    assert rows["SER"]["times faster"] == pytest.approx(200)
    assert rows["SER"]["paper, times faster"] == pytest.approx(195, abs=0.1)
    assert rows["SSER"]["paper, times faster"] == pytest.approx(163.8, abs=0.1)


def test_every_claim_has_observations_and_all_observations_a_claim(inputs):
    found = observe(declare(BUDGET), *tables.gather(inputs, SHOWN))
    assert set(found) == {claim.name for claim in declare(BUDGET)}
    for parts in found.values():
        for own in parts.values():
            assert len(own.value) == len(own.query_id) == len(own.fold)
            assert np.isfinite(own.value).all()


def test_checks_hold_and_every_claim_is_judged(inputs):
    found = observe(declare(BUDGET), *tables.gather(inputs, SHOWN))
    verdicts = decide(declare(BUDGET), {"toy": found}, dataset="toy").to_pylist()
    assert len(verdicts) == len(declare(BUDGET).claims)
    assert all(row["verdict"] == "holds" for row in verdicts if row["purpose"] == CHECK)


def test_every_finding_stands_under_both_rules_for_ties():
    names = {claim.name for claim in declare(BUDGET) if claim.purpose == FINDING}
    assert names == {*(n for n in names if n.endswith("-file")), *(n.removesuffix("-file") for n in names)}
    assert len(names) == 2 * 8


def test_methods_without_a_baseline_leave_claims_out(inputs):
    measures = inputs.frame("measures", "measures")
    found = observe(declare(BUDGET), measures[~measures["method"].isin(["ranksvm", "mhr-bc"])], {})
    assert "ranksvm - ser" not in found
    assert set(found["ser - weak"]) == {"against rankboost", "against adarank-map"}


def test_method_names_are_unique_and_run_as_configured():
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert "ser-methods" not in run(Hoi())
    assert "ser-methods" in run(Hoi(methods=["ranksvm", "listnet"]))
    with pytest.raises(ValueError, match="unknown"):
        Hoi(methods=["ranksvmm"])


def test_the_budget_names_as_many_settings_as_the_other_methods_have():
    sizes = {method.label: prod(map(len, GRIDS[method.name].values())) for method in BASELINES}
    assert f"the others by default: {', '.join(f'{name} {n}' for name, n in sizes.items())} settings" == OTHERS
