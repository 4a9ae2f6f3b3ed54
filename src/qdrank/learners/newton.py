"""Newton's method for smooth problems, shared by all learners; steps are halved until the objective falls enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from qdrank.layout import FloatArray

_ARMIJO = 1e-4  # a step must achieve this share of the decrease that the gradient predicts


class Valued(Protocol):
    """A point of some problem."""

    @property
    def value(self) -> float:
        """The objective."""


class Sloped(Valued, Protocol):
    """A point with its gradient, both of shape (n,)."""

    @property
    def w(self) -> FloatArray:
        """The weights."""

    @property
    def gradient(self) -> FloatArray:
        """The gradient of the objective."""


_Valued = TypeVar("_Valued", bound=Valued)
_Sloped = TypeVar("_Sloped", bound=Sloped)


def halved(
    at: _Valued, trial: Callable[[float], _Valued], slope: float, *, halvings: int = 60, rounding: float = 0.0
) -> _Valued:
    """The first of the points at 1, 1/2, 1/4, ... of a step whose value falls enough, or ``at`` if none does.

    ``slope`` is that of the objective along the whole step, ``rounding`` the relative error of the objective.
    """
    size = 1.0
    for _ in range(halvings):
        point = trial(size)
        if point.value <= at.value * (1 + rounding) + _ARMIJO * size * slope:
            return point
        size /= 2
    return at


def descend(
    at: _Sloped,
    evaluate: Callable[[FloatArray], _Sloped],
    direction: Callable[[_Sloped], tuple[FloatArray, bool] | None],
    limit: int,
) -> tuple[_Sloped, int]:
    """The last point and the number of steps from ``at``.

    ``direction`` gives Newton's step (n,) and whether it is the last one, or None if no step is needed. The descent
    also ends when rounding prevents any further decrease.
    """
    for steps in range(limit):
        chosen = direction(at)
        if chosen is None:
            return at, steps
        step, last = chosen
        new = halved(at, _along(evaluate, at.w, step), float(at.gradient @ step))
        if new is at:
            return at, steps
        at = new
        if last:
            return at, steps + 1
    return at, limit


def _along(evaluate: Callable[[FloatArray], _Sloped], w: FloatArray, step: FloatArray) -> Callable[[float], _Sloped]:
    return lambda size: evaluate(w + size * step)


class Smooth(Protocol):
    """A strictly convex function of a weight vector."""

    def __call__(self, w: FloatArray, /) -> tuple[float, FloatArray]:
        """Value and gradient (n,) at ``w`` (n,)."""

    def hessian(self, w: FloatArray, /) -> FloatArray:
        """Second derivatives (n, n) at ``w``."""


@dataclass(frozen=True)
class _Point:
    w: FloatArray
    value: float
    gradient: FloatArray


def newton_minimise(loss: Smooth, w: FloatArray, *, tol: float, max_iterations: int) -> FloatArray:
    """Weights that minimise ``loss``.

    With a few dozen correlated features, about ten such steps replace the hundreds that gradient descent or L-BFGS
    would take. It ends when Newton's estimate of the remaining decrease is ``tol``.
    """

    def direction(at: _Point) -> tuple[FloatArray, bool] | None:
        step = np.asarray(-np.linalg.solve(loss.hessian(at.w), at.gradient), dtype=np.float64)
        return None if -float(at.gradient @ step) / 2 <= tol else (step, False)

    return descend(_Point(w, *loss(w)), lambda w: _Point(w, *loss(w)), direction, max_iterations)[0].w
