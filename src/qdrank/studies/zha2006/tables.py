"""Tables 2 to 7 of Zha 2006, the L1 result and the controls; and what decides the claims: values per query.

Tables 2 to 4 are the grid of penalties and the maps it gives, Tables 5 to 7 which queries gain at the paper's penalties, on
training and on test queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from qdrank.evaluation.comparison import compare, holm, wilcoxon
from qdrank.evaluation.values import Observations, Pairs, Values, join, pairs
from qdrank.figures.method_tables import settings_by_fold, spread_of_fits
from qdrank.figures.numbers import chosen, where
from qdrank.layout import FloatArray
from qdrank.rankers import FIRST_STAGES
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.claims import FIRST, REFITS, SHARE, name
from qdrank.studies.zha2006.methods import FITTED_KINDS, PAIRWISE, REGRESSORS, Cell, method_name
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE

#: The grid's table of each regressor: the paper has one for each of its two data sets.
_GRIDS = {"zha-table2": "trees", "zha-table3": "ridge"}
_CELL = ["lam_alpha", "lam_beta"]
_PENALTIES = {"atvt": "L2, chosen", "l1": "L1, chosen", "paper-l1": "L1, the paper's: K = 1, raw 100 and 0.2"}


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """Tables of the grid, of L1 and of the controls, by id."""
    cells, maps = measured(inputs.frame("cells", CELLS_SHAPE)), inputs.frame("maps", MAPS_SHAPE)
    choices = inputs.frame("choices", "choices")
    stages = first_stages(inputs.frame("measures", "measures"), choices["measure"].iloc[0])
    return {
        **{table: grid_table(cells, h) for table, h in _GRIDS.items()},
        "zha-table4": maps_table(maps),
        "zha-l1": l1_table(cells, maps),
        "zha-controls": controls_table(cells, choices, shown.interval, stages),
    }


def gained(one: pd.DataFrame, plain: pd.DataFrame) -> dict[str, float]:
    """DCG without and with aTVT, the gain in percent, and Wilcoxon's p of means over fits: what the paper reports for a cell."""
    with_, without = (of.groupby("query_id")["value"].mean() for of in (one, plain))
    before, after = without.mean(), with_.mean()
    percent = 100 * (after / before - 1) if before else float("nan")
    p = wilcoxon(join(with_.index, with_, without.index, without)).p
    return {"DCG without": before, "DCG with": after, "gain in %": percent, "p (Wilcoxon)": p}


def grid_table(cells: pd.DataFrame, h: str) -> pd.DataFrame:
    """Tables 2 and 3: every cell of the grid against plain regression, corrected for the grid; then the two limits."""
    of_h = where(cells, h=h)
    if of_h.empty:
        return pd.DataFrame({"note": [f"{REGRESSORS[h]} is not among zha.regressors"]})
    plain = where(of_h, method="plain", fit=0)
    rows = [
        {**_texts(cell), "method": kind, "queries": len(plain), **gained(of, plain)}
        for kind in ("grid", "weak", "limit")
        for cell, of in where(of_h, method=kind, fit=0).groupby(_CELL)
    ]
    table = pd.DataFrame(rows)
    asked = table[table.pop("method") == "grid"]["p (Wilcoxon)"]
    return table.assign(**{"p (Holm, grid)": table.index.map(holm(asked.to_dict()))})


def _texts(cell: Any) -> dict[str, str]:
    return {name: f"{penalty:g}" for name, penalty in zip(_CELL, cell, strict=True)}


def maps_table(maps: pd.DataFrame) -> pd.DataFrame:
    """Table 4: mean and variance of alpha and beta of the training queries, one row per cell."""
    rows = where(maps, kind="grid", role="train")
    cells = ((h, cell, of) for h in rows["h"].unique() for cell, of in where(rows, h=h).groupby(_CELL))
    return pd.DataFrame([{"h": REGRESSORS[h], **_texts(cell), **spread(of)} for h, cell, of in cells])


def spread(queries: pd.DataFrame) -> dict[str, float]:
    """Mean and variance of the maps in these rows."""
    alpha, beta = queries["alpha"].to_numpy(), queries["beta"].to_numpy()
    moments = {"mean alpha": alpha.mean(), "variance of alpha": alpha.var()}
    return moments | {"mean beta": beta.mean(), "variance of beta": beta.var()}


def l1_table(cells: pd.DataFrame, maps: pd.DataFrame) -> pd.DataFrame:
    """The L1 result: chosen on validation beside L2, and the paper's setting (K = 1, raw 100 and 0.2)."""
    rows = []
    for h in cells["h"].unique():
        of_h = where(cells, h=h)
        for kind, text in _PENALTIES.items():
            gain = gained(where(of_h, method=kind), where(of_h, method="plain"))
            rows.append({"h": REGRESSORS[h], "penalties": text, **gain})
            rows[-1] |= spread(where(maps, h=h, kind=kind, role="train"))
    return pd.DataFrame(rows)


# ---- controls ----------------------------------------------------------------------------------------------------


def first_stages(measures: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The study's DCG of the first stages, at the depth of their runs; none if it was not measured for them."""
    known = measures if measure in measures else measures.iloc[:0].assign(**{measure: 0.0})
    return chosen(known, FIRST_STAGES).rename(columns={measure: "value"})[["method", "query_id", "value"]].assign(fit=0)


def controls_table(
    cells: pd.DataFrame, choices: pd.DataFrame, interval: Mapping[str, Any], stages: pd.DataFrame
) -> pd.DataFrame:
    """Every method and first stage against plain regression with the same h, and how much plain trees vary by chance."""
    settings, parts = settings_by_fold(choices), []
    for h in cells["h"].unique():
        rows = control_rows(pd.concat([chosen(where(cells, h=h), FITTED_KINDS), stages]), interval)
        named = settings.rename(index={method_name(h, kind): kind for kind in FITTED_KINDS})
        rows["settings by fold"] = named.reindex(rows.index, fill_value="")
        labels = {kind: label or PAIRWISE[h][1] for kind, (label, *_) in FITTED_KINDS.items()}
        rows = rows.rename(index=labels | FIRST_STAGES).rename_axis("method").reset_index()
        parts.append(rows.assign(h=REGRESSORS[h]))
    return pd.concat(parts)[["h", "method", *_NUMBERS, "settings by fold"]].astype({"fits": "Int64"})


def control_rows(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """Rows of one regressor by kind; p-values are corrected for all comparisons of methods with it."""
    plain, *refits = where(values, method="plain").groupby("fit")["value"].mean()
    base = plain or 1.0
    table = values.groupby("method", sort=False)["value"].mean().to_frame("DCG")
    table["fits"] = spread_of_fits(values, "value")["fits"]
    gains = values.assign(value=100 * values["value"] / base)
    for kind in table.index.drop("plain"):
        one = compare(pairs(gains, kind, "plain", "value"), **interval)
        table.loc[kind, ["gain in %", "low", "high"]] = one.difference, one.interval.low, one.interval.high
        table.loc[kind, "spread of fits in %"] = one.fit_spread if one.fits > 1 else np.nan
        table.loc[kind, "p (Wilcoxon)"] = one.wilcoxon.p
    methods = [kind for kind in FITTED_KINDS if kind in table.index and kind != "plain"]
    asked = dict(zip(methods, table["p (Wilcoxon)"][methods], strict=True))
    table["p (Holm)"] = table.index.map(holm(asked))
    if len(refits) > 1:
        noise = 100 * float(np.std(refits, ddof=1)) / base
        table["gain over refit deviation"] = table["gain in %"][methods] / (noise or np.nan)
        row = {"DCG": np.mean(refits), "gain in %": 100 * (np.mean(refits) / base - 1), "refit deviation in %": noise}
        named = f"{FITTED_KINDS['plain'][0]}, {len(refits)} refits to jittered targets"
        table = pd.concat([table, pd.DataFrame(row, index=[named])])
        table = table.loc[["plain", *methods, named, *table.index.intersection([*FIRST_STAGES], sort=False)]]
    return table.reindex(columns=_NUMBERS)


_NUMBERS = [
    "DCG",
    "gain in %",
    "low",
    "high",
    "spread of fits in %",
    "p (Wilcoxon)",
    "p (Holm)",
    "gain over refit deviation",
    "refit deviation in %",
    "fits",
]


# ---- Tables 5 to 7 -----------------------------------------------------------------------------------------------

PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
#: Shares of the queries, most adjusted first, of table 7.
MOST_ADJUSTED = (10, 20, 30, 50, 75, 100)


def tabulate_queries(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """Tables 5 to 7, by id."""
    maps = inputs.frame("maps", MAPS_SHAPE).sort_values(["fold", "query_id"])
    maps = in_cell(where(maps, kind="grid"), (shown.options["paper_alpha"], shown.options["paper_beta"]))
    made: dict[str, Callable[[pd.DataFrame], pd.DataFrame]]
    made = {"zha-table5": percentile_rows, "zha-table6": interval_rows, "zha-table7": adjusted_rows}
    return {table: by_regressor(maps, rows) for table, rows in made.items()}


def by_regressor(maps: pd.DataFrame, rows: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """The rows of every regressor, of test and of training queries."""
    parts = []
    for h in maps["h"].unique():
        for role in ("test", "train"):
            of = where(maps, h=h, role=role)
            made = rows(of.assign(gain=(of["value"] - of["plain"]).round(12)))
            parts.append(pd.DataFrame({"h": REGRESSORS[h], "queries of": role, **made}))
    return pd.concat(parts)


def percentile_rows(queries: pd.DataFrame) -> pd.DataFrame:
    """Table 5: the gain at percentiles of the queries, sorted by gain; percent of the mean DCG without aTVT."""
    gain = np.percentile(queries["gain"], PERCENTILES)
    of_mean = 100 * gain / (queries["plain"].mean() or 1.0)
    return pd.DataFrame({"percentile": PERCENTILES, "gain": gain, "gain in % of the mean": of_mean})


def interval_rows(queries: pd.DataFrame) -> pd.DataFrame:
    """Table 6: mean alpha, beta and gain of tenths of the queries, sorted by gain; ties by query id."""
    tenths = np.array_split(np.argsort(queries["gain"].to_numpy(), kind="stable"), 10)
    rows = []
    for i, tenth in enumerate(queries.iloc[places] for places in tenths if len(places)):
        means = tenth[["alpha", "beta", "gain"]].mean().add_prefix("mean ")
        rows.append({"interval": f"{10 * i} to {10 * (i + 1)} %", "queries": len(tenth), **means, **_percent(tenth)})
    return pd.DataFrame(rows)


def _percent(queries: pd.DataFrame) -> dict[str, float]:
    """Gain of some queries in percent of their DCG without aTVT."""
    before = queries["plain"].sum()
    return {"gain in %": 100 * queries["gain"].sum() / before if before else float("nan")}


def adjusted_rows(queries: pd.DataFrame) -> pd.DataFrame:
    """Table 7: gain of the most adjusted queries by ``|alpha^0.1 - 1| + |beta / 10|``, with Wilcoxon's p.

    A query that several folds train on is there several times, not independently: there is no p then.
    """
    key = deviation(queries["alpha"].to_numpy(), queries["beta"].to_numpy())
    order = np.argsort(-key, kind="stable")
    rows: list[dict[str, Any]] = []
    for share in MOST_ADJUSTED:
        places = order[: max(1, round(len(order) * share / 100))]
        of, gain = queries.iloc[places], queries["gain"].to_numpy()[places]
        row = {"most adjusted": f"{share} %", "queries": len(of), "deviation from": key[places].min()}
        p = wilcoxon(Pairs(places, gain, np.zeros(len(gain)))).p
        rows.append({**row, "mean gain": gain.mean(), **_percent(of), "p (Wilcoxon)": p})
    table = pd.DataFrame(rows)
    corrected = holm(dict(zip(table["most adjusted"], table["p (Wilcoxon)"], strict=True)))
    table["p (Holm)"] = table["most adjusted"].map(corrected)
    if queries["query_id"].duplicated().any():
        table[["p (Wilcoxon)", "p (Holm)"]] = np.nan
    return table


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
