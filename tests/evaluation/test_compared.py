import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from qdrank.errors import InputError
from qdrank.evaluation.comparison import compare, corrected_p, differences
from qdrank.evaluation.run_files import MeasuredRun
from qdrank.evaluation.values import Pairs, pairs
from qdrank.figures.style import error_bars


def measures(values: dict[str, dict[str, float]], seed: int = 0) -> pd.DataFrame:
    rows = [
        {"fold": "f" + q[-1], "method": m, "query_id": q, "ap": v} for m, of in values.items() for q, v in of.items()
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=seed)


VALUES = {"a": {"q10": 0.5, "q2": 0.25, "q9": 1.0}, "b": {"q2": 0.75, "q9": 0.0, "q10": 0.5}}


@pytest.mark.parametrize("seed", range(3))
def test_methods_are_paired_by_query_and_never_by_place(seed):
    paired = pairs(measures(VALUES, seed), "a", "b", "ap")
    assert paired.query.tolist() == ["q10", "q2", "q9"]
    assert paired.differences.tolist() == [0.0, -0.5, 1.0]
    assert (paired.a.tolist(), paired.b.tolist()) == ([0.5, 0.25, 1.0], [0.5, 0.75, 0.0])


def test_methods_on_other_queries_are_refused():
    with pytest.raises(InputError, match="not measured on the same queries"):
        pairs(measures({"a": {"q1": 1.0}, "b": {"q2": 1.0}}), "a", "b", "ap")


def holm_by_hand(p: list[float]) -> list[float]:
    adjusted, largest = [0.0] * len(p), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        largest = max(largest, min(1.0, (len(p) - step) * p[i]))
        adjusted[i] = largest
    return adjusted


def run(name: str, values: np.ndarray) -> MeasuredRun:
    ids = np.array([f"q{i:02}" for i in range(len(values))])
    return MeasuredRun(name, "", "", ids, {"ap": values, "rr": values**2}, 0, 0, 0, {})


def test_every_other_run_is_compared_with_the_baseline():
    rng = np.random.default_rng(5)
    base, *others = (run(name, rng.random(20)) for name in ("base", "one", "two"))
    made = differences([others[0], base, others[1]], base, ["ap", "rr"])
    assert [(one.run, one.measure) for one in made] == [(r, m) for r in ("one", "two") for m in ("ap", "rr")]
    of = {other.name: other for other in others}
    p = [stats.ttest_rel(of[one.run].values[one.measure], base.values[one.measure]).pvalue for one in made]
    np.testing.assert_allclose([one.p for one in made], holm_by_hand(p), rtol=1e-8)
    apart = [float((of[one.run].values[one.measure] - base.values[one.measure]).mean()) for one in made]
    np.testing.assert_allclose([one.comparison.difference for one in made], apart, atol=1e-12)


def test_error_bars_reach_the_ends_and_never_below_zero():
    assert error_bars([1.0, 2.0], [0.5, 2.5], [1.5, 2.0]).tolist() == [[0.5, 0.0], [0.5, 0.0]]


@given(st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_p_values_are_corrected_together_in_the_order_given(n, seed):
    rng = np.random.default_rng(seed)
    ids = np.array([f"q{i:02}" for i in range(12)])
    pairs = [Pairs(ids, rng.random(12) + 0.1 * i, rng.random(12)) for i in range(n)]
    made = [compare(one, seed=1, resamples=50, family=n) for one in pairs]
    p = [stats.ttest_rel(one.a, one.b).pvalue for one in pairs]
    np.testing.assert_allclose(corrected_p(made), holm_by_hand(p), rtol=1e-8)
    columns = made[0].columns(0.03)
    assert (columns["queries"], columns["p (Holm)"]) == (12, 0.03)
    assert columns["difference"] == pytest.approx((pairs[0].a - pairs[0].b).mean())
