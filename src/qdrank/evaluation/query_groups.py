"""A difference by groups of queries, shrunk towards the whole, so that small groups are not overstated.

The model is that of random effects: a query of group g has the difference theta_g + noise of variance s^2, and theta_g itself is
drawn around mu with variance tau^2. With n_g queries of mean d_g and v_g = s^2 / n_g,

    s^2   = pooled variance within groups, sum (n_g - 1) s_g^2 / sum (n_g - 1)
    Q     = sum (d_g - m)^2 / v_g,  m the mean of d_g weighted by 1 / v_g                           (Cochran 1954)
    tau^2 = max(0, (Q - (G - 1)) / (sum 1/v_g - sum 1/v_g^2 / sum 1/v_g))                       (DerSimonian and Laird 1986, eq. 8)
    mu    = mean of d_g weighted by 1 / (v_g + tau^2)
    w_g   = tau^2 / (tau^2 + v_g)
    theta_g = mu + w_g (d_g - mu),  with variance w_g v_g                                       (Efron and Morris 1975)

A group differs from the whole if w_g (d_g - mu) is more than z times the root of w_g v_g, z at the level alpha / G (Bonferroni). If groups mean nothing,
that ratio has standard deviation sqrt(w_g), below 1: with 40 random groups the chance that any is named is below alpha.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from qdrank.errors import AnyPath, InputError
from qdrank.layout import FloatArray


@dataclass(frozen=True)
class GroupDifference:
    """A group's difference.

    Attributes
    ----------
    group, n : its name and its number of queries
    raw : mean difference of its queries
    shrunk, low, high : estimate, and its interval at the level corrected for all groups
    differs : whether the group differs from the whole
    """

    group: str
    n: int
    raw: float
    shrunk: float
    low: float
    high: float
    differs: bool


def by_group(differences: FloatArray, group: Sequence[str], *, alpha: float = 0.05) -> list[GroupDifference]:
    """Differences (n_queries,) by the group of each query, groups in the order of their names.

    Raises `InputError` if there are fewer than two groups, or no group has two queries.
    """
    d = np.asarray(differences, dtype=np.float64)
    names, of_query = np.unique(np.asarray(group, dtype=str), return_inverse=True)
    n = np.bincount(of_query).astype(np.float64)
    free = len(d) - len(n)
    if len(n) < 2 or free < 1:
        fix = "give each query one of a few groups"
        raise InputError(f"{len(n)} groups of {len(d)} queries cannot be compared", fix=fix)
    mean = np.bincount(of_query, weights=d) / n
    v = max(float(((d - mean[of_query]) ** 2).sum()) / free, 1e-18) / n
    tau2 = between_groups(mean, v)
    weight = 1 / (v + tau2)
    mu = float((weight * mean).sum() / weight.sum())
    w = tau2 / (tau2 + v)
    apart, spread = w * (mean - mu), np.sqrt(w * v)
    z = -float(ndtri(alpha / (2 * len(n))))
    half = z * np.sqrt(w * v + (1 - w) ** 2 / weight.sum())
    rows = zip(names.tolist(), n, mean, mu + apart, half, (np.abs(apart) > z * spread) & (w > 0), strict=True)
    return [
        GroupDifference(g, int(k), float(m), float(s), float(s - h), float(s + h), bool(f)) for g, k, m, s, h, f in rows
    ]


def between_groups(mean: FloatArray, v: FloatArray) -> float:
    """Variance tau^2 between groups of means (n_groups,) with variances ``v``: DerSimonian and Laird 1986, eq. 8."""
    weight = 1 / v
    middle = (weight * mean).sum() / weight.sum()
    Q = float((weight * (mean - middle) ** 2).sum())
    return max(0.0, (Q - (len(mean) - 1)) / float(weight.sum() - (weight**2).sum() / weight.sum()))


def groups_of(query: Sequence[str], groups: Mapping[str, str], path: AnyPath | None) -> list[str]:
    """Group of each query; one that has none is an error."""
    lacking = [name for name in query if name not in groups]
    if lacking:
        fix = "give every judged query a line: query group"
        raise InputError(f"{len(lacking)} queries have no group", file=path, found=f"query {lacking[0]}", fix=fix)
    return [groups[name] for name in query]
