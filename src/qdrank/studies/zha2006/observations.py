"""What decides the claims in the results of a data set: values per query."""

from __future__ import annotations

import numpy as np
import pandas as pd

from qdrank.evaluation.values import Observations, Values
from qdrank.figures.numbers import where
from qdrank.layout import FloatArray
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.claims import FIRST, REFITS, SHARE, name
from qdrank.studies.zha2006.methods import Cell, method_name
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE


def measured(cells: pd.DataFrame) -> pd.DataFrame:
    """Test rows of the table of cells, further fits under the name of their kind, ``method``, with their number, ``fit``."""
    rows = where(cells, role="test")
    kinds = rows["kind"].str.extract(r"^(?P<method>.*?)(?:, fit (?P<fit>\d+))?$").fillna({"fit": "0"})
    return rows.join(kinds.astype({"fit": int}), validate="one_to_one")


def in_cell(rows: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """Rows with these penalties on alpha and beta."""
    return where(rows, lam_alpha=cell[0], lam_beta=cell[1])


def deviation(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """How far maps are from the identity: ``|alpha^0.1 - 1| + |beta / 10|`` (Zha 2006, table 7)."""
    return np.asarray(np.abs(alpha**0.1 - 1) + np.abs(beta / 10))


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Values of the methods as shares of the plain regressor's mean, and the study's own observations."""
    cells, maps = inputs.frame("cells", CELLS_SHAPE), inputs.frame("maps", MAPS_SHAPE)
    cell = shown.options["paper_alpha"], shown.options["paper_beta"]
    topics = inputs.frame("topics", "topics").set_index("query_id")["type"]
    # Affine copies are copies in grades: for other targets their names do not give the true maps.
    types = topics if shown.options["targets"] == "grades" else topics[:0]
    return shares(cells), own_observations(cells, maps, cell, types)


def shares(cells: pd.DataFrame) -> pd.DataFrame:
    """Test values of all methods, each divided by the mean of the plain regressor's first fit."""
    return pd.concat(_shares(str(h), of) for h, of in measured(cells).groupby("h", sort=False))


def _shares(h: str, of: pd.DataFrame) -> pd.DataFrame:
    base = where(of, method="plain", fit=0)["value"].mean() or 1.0
    refits = of[(of["method"] == "plain") & (of["fit"] > 0)].assign(method=f"plain-{REFITS}")
    first = where(of, method="atvt", fit=0).assign(method=f"atvt-{FIRST}")
    rows = pd.concat([of, refits, first])
    return rows.assign(method=[method_name(h, kind) for kind in rows["method"]], **{SHARE: rows["value"] / base})


def own_observations(cells: pd.DataFrame, maps: pd.DataFrame, paper: Cell, types: pd.Series) -> Observations:
    """Observations that are no difference of two methods.

    Parameters
    ----------
    cells : test values of every fit
    maps : maps of training and test queries
    paper : the paper's penalties
    types : type of every query; in affine copies it names the query's map
    """
    claims: Observations = {}
    for h in maps["h"].unique():
        limit = where(cells, role="test", h=h, kind="limit scores").sort_values("query_id")
        claims[name(h, "limit")] = {"value": Values(limit["value"], limit["query_id"], limit["fold"])}
        of_h = where(maps, h=h).sort_values(["fold", "query_id"])
        claims |= _adjusted(in_cell(where(of_h, role="test"), paper), h)
        for kind, which in (("atvt", "recovered"), ("weak", "recovered, weak")):
            claims |= _recovered(where(of_h, role="train", kind=kind), types, name(h, which))
    return claims


def _adjusted(maps: pd.DataFrame, h: str) -> Observations:
    """Gains of the more adjusted half of the test queries, and of the other half with opposite sign, both doubled.

    The mean of these is the difference of the halves' mean gains. Every fit has its own maps, and so its own halves; where
    the number of queries is odd, the middle one of a fit counts nothing there, and the others a little more.
    """
    fits = map_fits(maps)
    base = fits[0]["plain"].mean() or 1.0
    claims = {}
    for which in ("adjusted", "adjusted, varied"):
        used = [fit[fit["varied"]] if which.endswith("varied") else fit for fit in fits]
        if len(used[0]) < 2:
            continue
        signs = np.stack(
            [_halves(deviation(*(fit[name].to_numpy() for name in ("alpha", "beta")))) for fit in used], axis=1
        )
        gains = np.stack([fit["value"] - fit["plain"] for fit in used], axis=1)
        kept = (signs != 0).any(axis=1)
        each = 2 * signs * gains * kept.sum() / (signs != 0).sum(axis=0) / base
        of = used[0][kept]
        claims[name(h, which)] = {"difference": Values(each[kept], of["query_id"], of["fold"])}
    return claims


def map_fits(maps: pd.DataFrame) -> list[pd.DataFrame]:
    """Maps of all fits in a cell, the first and those to jittered targets."""
    of_fits = maps[(maps["kind"] == "grid") | maps["kind"].str.startswith("fixed, fit ")]
    return [of for _, of in of_fits.groupby("kind", sort=False)]


def _halves(key: FloatArray) -> FloatArray:
    """1 for the upper half, -1 for the lower, 0 for the middle one if the number is odd."""
    n, sign = len(key), np.zeros(len(key))
    order = np.argsort(key, kind="stable")
    sign[order[: n // 2]], sign[order[n - n // 2 :]] = -1, 1
    return sign


def _recovered(maps: pd.DataFrame, types: pd.Series, claim: str) -> Observations:
    """Alpha of queries of scale 2 over twice the mean alpha of those of scale 1, minus 1; within each fold."""
    scale = maps["query_id"].map(types).astype(str).str[:8]
    one, two = maps[scale == "scale 1,"], maps[scale == "scale 2,"]
    if one.empty or two.empty:
        return {}
    mean = two["fold"].map(one.groupby("fold")["alpha"].mean())
    return {claim: {"difference": Values(two["alpha"] / (2 * mean) - 1, two["query_id"], two["fold"])}}
