"""Observations for the claims in the results of a data set: values per query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd
import pyarrow as pa

from qdrank.evaluation.observations import Observations
from qdrank.evaluation.values import Values as Contrast
from qdrank.layout import FloatArray
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.claims import name
from qdrank.studies.zha2006.options import Cell
from qdrank.studies.zha2006.reading import (
    Values,
    chosen_rows,
    deviation,
    differences,
    fits_of,
    map_fits,
    regressors,
    values,
)
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE

#: Kinds of fits whose test values are compared.
COMPARED = (
    *(("atvt", "plain"), ("fixed", "plain"), ("plain", "weak"), ("fixed", "weak"), ("l1", "atvt")),
    *(("atvt", "centred"), ("centred", "plain"), ("scale", "plain"), ("atvt", "pairwise")),
)


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Observations of one data set from its artifacts."""
    cell = shown.options["paper_alpha"], shown.options["paper_beta"]
    topics = inputs.table("topics", "topics").select(["query_id", "type"]).to_pylist()
    # Affine copies are copies in grades: for other targets their names do not give the true maps.
    known = shown.options["targets"] == "grades"
    types = {row["query_id"]: row["type"] or "" for row in topics} if known else {}
    return pd.DataFrame({"method": []}), observations(
        inputs.table("cells", CELLS_SHAPE), inputs.table("maps", MAPS_SHAPE), cell, types
    )


def observations(cells: pa.Table, maps: pa.Table, paper: Cell, types: dict[str, str]) -> Observations:
    """Observations of one data set.

    Parameters
    ----------
    cells : test values of every fit
    maps : maps of training and test queries
    paper : the paper's penalties
    types : type of every query; in affine copies it names the query's map
    """
    claims: Observations = {}
    for h in regressors(cells):
        claims |= _differences(cells, h)
        limit = values(cells, h, "limit scores")
        claims[name(h, "limit")] = {"value": Contrast(limit.value, limit.query_id, limit.fold)}
        claims |= _adjusted(maps, h, paper)
        for kind, which in (("atvt", "recovered"), ("weak", "recovered, weak")):
            if (ratio := _recovered(maps, h, kind, types)) is not None:
                claims[name(h, which)] = {"difference": ratio}
    return claims


def _differences(cells: pa.Table, h: str) -> Observations:
    """Differences of the compared kinds, one per fit if they were refitted; kinds fitted once serve every fit."""
    fits = {kind: fits_of(cells, h, kind) for kind in dict.fromkeys(chain.from_iterable(COMPARED))}
    base = float(fits["plain"][0].value.mean()) or 1.0
    claims = {name(h, f"{a} - {b}"): {"difference": _apart(fits[a], fits[b], base)} for a, b in COMPARED}
    claims[name(h, "1 %")] = {"value": claims[name(h, "atvt - plain")]["difference"]}
    if len(fits["plain"]) > 1:
        claims[name(h, "atvt - refits")] = {"difference": _apart(fits["atvt"][:1], fits["plain"][1:], base)}
    return claims


def _apart(one: Sequence[Values], other: Sequence[Values], base: float) -> Contrast:
    """Differences of two kinds as shares of the plain regressor's mean, paired by fit."""
    apart, ids, folds = differences(one, other) / base, one[0].query_id, one[0].fold
    return Contrast(apart, ids, folds)


def _adjusted(maps: pa.Table, h: str, paper: Cell) -> Observations:
    """Gains of the more adjusted half of the test queries, and of the other half with opposite sign, both doubled.

    The mean of these is the difference of the halves' mean gains. Every fit has its own maps, and so its own halves; where
    the number of queries is odd, the middle one of a fit counts nothing there, and the others a little more.
    """
    fits = map_fits(maps, h, paper)
    base = float(fits[0].column("plain").to_numpy().mean()) or 1.0
    claims = {}
    for which in ("adjusted", "adjusted, varied"):
        used = [fit.filter(fit.column("varied")) if which.endswith("varied") else fit for fit in fits]
        if used[0].num_rows < 2:
            continue
        signs, gains = zip(*(_signed_gains(fit) for fit in used), strict=True)
        kept = (np.stack(signs) != 0).any(axis=0)
        each = [2 * gain * kept.sum() / (sign != 0).sum() / base for sign, gain in zip(signs, gains, strict=True)]
        ids, folds = (used[0].column(c).to_numpy(zero_copy_only=False)[kept] for c in ("query_id", "fold"))
        by_fit = np.stack(each, axis=1)[kept]
        whole = Contrast(by_fit, ids, folds)
        claims[name(h, which)] = {"difference": whole}
    return claims


def _signed_gains(fit: pa.Table) -> tuple[FloatArray, FloatArray]:
    """Half of each query in one fit, as of `_halves`, and the query's gain with that sign."""
    alpha, beta, before, after = (fit.column(c).to_numpy() for c in ("alpha", "beta", "plain", "value"))
    sign = _halves(deviation(alpha, beta))
    return sign, sign * (after - before)


def _halves(key: FloatArray) -> FloatArray:
    """1 for the upper half, -1 for the lower, 0 for the middle one if the number is odd."""
    n, sign = len(key), np.zeros(len(key))
    order = np.argsort(key, kind="stable")
    sign[order[: n // 2]], sign[order[n - n // 2 :]] = -1, 1
    return sign


def _recovered(maps: pa.Table, h: str, kind: str, types: dict[str, str]) -> Contrast | None:
    """Alpha of queries of scale 2 over twice the mean alpha of those of scale 1, minus 1; within each fold."""
    rows = chosen_rows(maps, h=h, kind=kind, role="train")
    ids, folds = (rows.column(c).to_numpy(zero_copy_only=False) for c in ("query_id", "fold"))
    scale = np.array([types.get(query, "")[:8] for query in ids])
    if not {"scale 1,", "scale 2,"} <= set(scale):
        return None
    alpha = rows.column("alpha").to_numpy()
    one = {fold: alpha[(folds == fold) & (scale == "scale 1,")].mean() for fold in np.unique(folds)}
    twice = scale == "scale 2,"
    ratio = alpha[twice] / (2 * np.array([one[fold] for fold in folds[twice]])) - 1
    return Contrast(ratio, ids[twice], folds[twice])
