import itertools

import numpy as np
import pytest

from qdrank.learners.newton import newton_minimise


class Quadratic:
    """``(w - b)' A (w - b) / 2``; counts evaluations."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        half = rng.standard_normal((5, 5))
        self.A, self.b, self.evaluations = half @ half.T + np.eye(5), rng.standard_normal(5), 0

    def __call__(self, w):
        self.evaluations += 1
        return float((w - self.b) @ self.A @ (w - self.b)) / 2, self.A @ (w - self.b)

    def hessian(self, w):
        return self.A


class Root:
    """``sum of sqrt(1 + w^2)``: a full Newton step from beyond 1 goes to -w^3, further away every time."""

    def __call__(self, w):
        root = np.sqrt(1 + w**2)
        return float(root.sum()), w / root

    def hessian(self, w):
        return np.diag((1 + w**2) ** -1.5)


@pytest.mark.parametrize("seed", range(5))
def test_one_step_solves_a_quadratic(seed: int) -> None:
    loss = Quadratic(seed)
    np.testing.assert_allclose(newton_minimise(loss, np.zeros(5), tol=1e-12, max_iterations=10), loss.b, atol=1e-9)
    assert loss.evaluations == 2


def test_steps_that_are_too_long_are_halved() -> None:
    found = newton_minimise(Root(), np.array([3.0, -2.0, 0.5]), tol=1e-14, max_iterations=100)
    np.testing.assert_allclose(found, 0, atol=1e-6)


def test_the_loss_never_rises() -> None:
    values = [Root()(newton_minimise(Root(), np.array([4.0]), tol=0.0, max_iterations=n))[0] for n in range(8)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(values))
    assert values[-1] == pytest.approx(1.0)


def test_the_limit_of_steps_is_kept() -> None:
    start = np.array([3.0])
    np.testing.assert_array_equal(newton_minimise(Root(), start, tol=1e-14, max_iterations=0), start)
    assert newton_minimise(Root(), start, tol=1e-14, max_iterations=1)[0] != 0


def test_at_the_optimum_nothing_moves() -> None:
    loss = Quadratic(1)
    np.testing.assert_array_equal(newton_minimise(loss, loss.b, tol=1e-12, max_iterations=10), loss.b)
    assert loss.evaluations == 1
