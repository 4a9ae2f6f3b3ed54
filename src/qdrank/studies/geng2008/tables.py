"""Tables of the study of Geng 2008, and the observations for its claims that no difference of two methods decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.evaluation.deciding import THESE_WORLDS, Members, estimate_of, row, verdicts_table
from qdrank.evaluation.declared import Claim, Declaration, Rules
from qdrank.evaluation.estimates import Estimate
from qdrank.evaluation.values import Observations, Values
from qdrank.evaluation.verdicts import decide_by_estimates
from qdrank.figures.method_tables import comparisons_table, differences, folds_table, methods_table
from qdrank.figures.numbers import where
from qdrank.layout import FloatArray
from qdrank.learners.choose import choose
from qdrank.learners.parameters import most_regularised_first
from qdrank.queries.recipe import Queries, load_neighbours, load_queries
from qdrank.studies.geng2008.claims import FLAT, GAMMA_MARGIN, NEIGHBOURS, PAPERS_K, PAPERS_NUMBER
from qdrank.studies.geng2008.methods import BY_NAME, KNN, MEASURE, OFFLINE, TREES
from qdrank.studies.geng2008.query_classes import CLASSES_SHAPE, K_MEANS, Classes, type_scores, type_share
from qdrank.studies.making import Inputs, Shown

#: Measures of the table of methods.
_MEANS = (MEASURE, "ndcg@1/geng", "ndcg@5/geng", "ndcg@10/geng", "ap")


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table | pd.DataFrame]:
    """Tables of the methods, by id."""
    values = inputs.frame("measures", "measures")
    choices = pd.concat([inputs.frame(name, "choices") for name in ("choices", *TREES) if name in inputs.files])
    labels = {name: method.label for name, method in BY_NAME.items()}
    compared = [(a, b) for b in ("single", "qc", "qc-documents") for a in KNN]
    classes = dict(zip(shown.folds, inputs.tables("classes", CLASSES_SHAPE), strict=True))
    return {
        "geng-methods": methods_table(
            values, labels, _MEANS, choices, against=["single"], by=MEASURE, interval=shown.interval
        ),
        "geng-folds": folds_table(values, labels, ("ap", MEASURE, "ndcg@10/letor4")),
        "geng-tests": comparisons_table(values, compared, labels, MEASURE, shown.interval),
        "geng-qc": classes_table(classes),
    }


def classes_table(classes: Mapping[str, pa.Table]) -> pd.DataFrame:
    """How well the classes of the test queries are guessed, one row per fold and classifier."""
    rows = []
    for fold, table in classes.items():
        known = Classes.from_table(table)
        test = table.column("role").to_numpy(zero_copy_only=False) == "test"
        test &= np.array([kind is not None for kind in known.true])
        n_classes = len({kind for kind in known.true if kind is not None})
        for sees, guess in (("the query", known.guess), ("its top documents", known.from_documents)):
            row: dict[str, Any] = {"fold": fold, "QC sees": sees, "queries": int(test.sum()), "classes": n_classes}
            row |= {"F1": None, "accuracy": None}
            if test.any() and (known.sees_queries or sees != "the query"):
                scores = type_scores(known.true[test], guess[test])
                row |= {"F1": scores.macro_f1, "accuracy": scores.accuracy}
            rows.append(row | {"where they come from": known.origin})
    return pd.DataFrame(rows).astype({"F1": float, "accuracy": float})


BASE = "KNN Online"
_COSTS = {
    "neighbours": "neighbours",
    "models": "models per fold",
    "work": "million pair visits per fold",
    "same": "same neighbours",
}


def tabulate_variants(inputs: Inputs, shown: Shown) -> dict[str, pd.DataFrame]:
    """The table of the variants, by its id."""
    return {"geng-variants": variants_table(inputs.frame("values", "values"), shown.interval)}


def variants_table(values: pd.DataFrame, interval: Mapping[str, Any]) -> pd.DataFrame:
    """One row per variant: mean NDCG, its difference from KNN Online, and its cost in models and pair visits."""
    apart = differences(values, BASE, MEASURE, interval).drop(columns="verdict")
    means = values.groupby("method", sort=False)[[MEASURE, *_COSTS]].mean()
    table = means[[MEASURE]].join([apart, means[[*_COSTS]]])
    named = {MEASURE: "mean NDCG", "difference": f"difference from {BASE}", **_COSTS}
    return table.rename(columns=named).rename_axis("variant").reset_index()


def tabulate_times(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """Table 1 as measured. A separate job takes the times, so a new title does not measure them again."""
    return {"geng-table1": inputs.table("times", "table")}


#: A smaller and a larger set.
LARGER = (("sim1", "sim2"),)


def gather(inputs: Inputs, shown: Shown) -> tuple[pd.DataFrame, Observations]:
    """Measures of the methods, and the study's own observations."""
    classes = inputs.tables("classes", CLASSES_SHAPE)
    files = [map(load_queries, inputs.files["queries"]), (load_neighbours(f)[1] for f in inputs.files["neighbours"])]
    local = locality_observations(dict(zip(shown.folds, zip(*files, classes, strict=True), strict=True)))
    measures = inputs.frame("measures", "measures")
    if not all(Classes.from_table(table).sees_queries for table in classes):
        # If only the documents of a query are known, there is no QC that sees the query alone.
        measures = measures[measures["method"] != "qc"]
    own = observations(inputs.frame("values", "values"), inputs.frame("bounds", "figure"))
    return measures, own | ({} if local is None else {"locality": {"difference": local}})


def observations(values: pd.DataFrame, bound: pd.DataFrame) -> Observations:
    """Observations along k.

    Parameters
    ----------
    values : measures and change ratios along k, all folds
    bound : stability bound and observation, all folds
    """
    along = along_k(values)
    single = curve(along, "single", MEASURE).iloc[:, -1]
    vali = along_k(values, "vali") if "vali" in set(values["role"]) else None
    claims = _bound_observations(bound) | _gamma_observations(along)
    for method in KNN:
        knn = curve(along, method, MEASURE)
        if (at := _place(knn, PAPERS_K)) is not None:
            claims[f"{method} - single, as the paper"] = {"difference": Values.of(knn.iloc[:, at] - single)}
        if vali is not None:  # test queries choose nothing
            claims |= _curve_observations(method, knn, curve(vali, method, MEASURE), single)
    online = curve(along, "knn-online", MEASURE)
    if _to_the_end(online):
        claims["k = m"] = {"difference": Values.of(online.iloc[:, -1] - single)}
    return claims


def along_k(values: pd.DataFrame, role: str = "test") -> pd.DataFrame:
    """Rows of one role, queries of all folds together, by rising k.

    Folds differ a little in size, so their largest k belong together, their second largest, and so on: ``k``, and its ``share``
    of the training queries, become means over the folds. Where small folds have fewer k, the smallest ones are left out.
    """
    rows = where(values, role=role).rename(columns={"x": "k"})
    size = where(rows, method="single").groupby("fold")["k"].first()  # Single learns from all training queries
    rows = rows.assign(share=rows["k"] / rows["fold"].map(size))
    rows["place"] = rows.groupby(["method", "fold"])["k"].rank("dense", ascending=False)
    counts = rows.groupby(["method", "fold"])["place"].max().groupby("method").min()
    rows = rows[rows["place"] <= rows["method"].map(counts)]
    means = rows.drop_duplicates(["method", "fold", "place"]).groupby(["method", "place"])[["k", "share"]].mean()
    found = rows.drop(columns=["k", "share"]).merge(means, on=["method", "place"], validate="many_to_one")
    assert len(found) == len(rows)
    return found.sort_values("k", kind="stable")


def curve(along: pd.DataFrame, method: str, measure: str) -> pd.DataFrame:
    """Values of a method by query and fold, with a column for each ``k`` and ``share``, from rows of `along_k`."""
    rows = where(along, method=method)
    if rows.empty:
        raise InputError(f"there is no curve of {method}")
    return rows.pivot(index=["query_id", "fold"], columns=["k", "share"], values=measure)


def _bound_observations(bound: pd.DataFrame) -> Observations:
    usable = bound[np.isfinite(bound["bound"]) & (bound["bound"] > 0)]
    ratio = usable["observed"] / usable["bound"]
    return {"bound": {"value": Values(ratio, usable["query_id"], usable["fold"])}} if len(usable) else {}


def _shares_of(curve: pd.DataFrame) -> FloatArray:
    """Its k as shares of the training queries."""
    return curve.columns.get_level_values("share").to_numpy(dtype=float)


def _to_the_end(curve: pd.DataFrame) -> bool:
    """Whether the last k covers all training queries in every fold."""
    return bool(_shares_of(curve)[-1] == 1)


def _place(curve: pd.DataFrame, share: float) -> int | None:
    """Place of the k that is this share of the training queries; None if the curve has none near it."""
    apart = np.abs(_shares_of(curve) - share)
    return int(apart.argmin()) if apart.min() <= 0.05 else None


def _curve_observations(method: str, test: pd.DataFrame, vali: pd.DataFrame, single: pd.Series) -> Observations:
    """Find the best k of each fold on its validation queries, and measure the gain on its test queries.

    The end of the curve, k = m, is Single, even if the curve stops earlier.
    """
    best, of_test, n = {}, test.to_numpy(), test.shape[1]
    for fold, of_fold in vali.groupby("fold"):
        values = of_fold.to_numpy()[:, -n:]
        best[fold] = choose((i, values[:, i]) for i in most_regularised_first("k", range(n))).chosen
    places = [best[fold] for fold in test.index.get_level_values("fold")]
    top = pd.Series(of_test[np.arange(len(test)), places], test.index)
    claims = {f"curve {method}": {"rise": Values.of(top - test.iloc[:, 0]), "fall": Values.of(top - single)}}
    inside = [i for i, share in enumerate(_shares_of(test)) if FLAT[0] - 0.01 <= share <= FLAT[1]]
    flat = {f"k/m = {_shares_of(test)[i]:.2f}": Values.of(test.iloc[:, i] - top) for i in inside}
    return claims | ({f"flat {method}": flat} if flat else {})


def _gamma_observations(along: pd.DataFrame) -> Observations:
    claims: Observations = {}
    ratios = []
    for method in OFFLINE:
        gammas = curve(along, method, "gamma")
        claims[f"gammas {method}"] = {
            f"{k:.0f}": Values.of(gammas.iloc[:, i]) for i, k in enumerate(gammas.columns.get_level_values("k"))
        }
        if (at := _place(gammas, PAPERS_K)) is not None:
            ratios.append(gammas.iloc[:, at])
            claims[f"gamma {method}"] = {"value": Values.of(ratios[-1])}
        if _to_the_end(gammas):
            claims[f"gamma to 0 {method}"] = {"value": Values.of(gammas.iloc[:, -1])}
    if len(ratios) == 2:
        claims["gamma order"] = {"difference": Values.of(ratios[1] - ratios[0])}
    return claims


def locality_observations(folds: Mapping[str, tuple[Queries, NDArray[Any], pa.Table]]) -> Values | None:
    """Share of a test query's nearest training queries of its class minus chance; None where classes are made from vectors.

    ``folds`` has the queries, their nearest training queries and the artifact ``classes`` of every fold.
    """
    if any(K_MEANS in classes.column("origin")[0].as_py() for _, _, classes in folds.values()):
        return None
    found = []
    for name, (queries, nearest, classes) in folds.items():
        ids, share, chance = type_share(queries, nearest, classes.column("class").to_numpy(zero_copy_only=False))
        at = min(NEIGHBOURS, share.shape[1]) - 1
        found.append(pd.DataFrame({"query_id": ids, "fold": name, "value": share[:, at] - chance}))
    return Values.of(pd.concat(found).set_index(["query_id", "fold"])["value"])


def decide_across(declaration: Declaration, members_of: Mapping[str, Members], worlds: Mapping[str, str]) -> pa.Table:
    """Verdicts on the claim that compares two data sets: the change ratio is smaller on the larger one.

    The paper does not say at which k. We decide both readings: at the same share of the training queries, and at the
    same number of neighbours (of the numbers tried on both sets, the one nearest to the paper's). ``members_of`` has
    the observations of all data sets, ``worlds`` what is built into them.
    """
    rows = []
    for small, large in LARGER:
        if small in members_of and large in members_of:
            claims = list(_claims(members_of[small], members_of[large], declaration.rules))
            for claim, apart, analysis in claims:
                one = decide_by_estimates(claim, {"difference": apart}, size=len(claims), rules=declaration.rules)
                about = {"dataset": f"{small}, {large}", "world": worlds[large], "analysis": analysis}
                rows.append(row(declaration, claim, one, {}, **about))
    return verdicts_table(rows)


def _claims(small: Members, large: Members, rules: Rules) -> Iterator[tuple[Claim, Estimate, str]]:
    for method in OFFLINE:
        text = f"the change ratio of {BY_NAME[method].label} is smaller on the larger set, at the same"
        for name, contrast, at in _places(method, small, large):
            (a, first), (b, second) = (estimate_of(members, name, contrast, rules) for members in (small, large))
            claim = Claim(
                name=f"larger {method}, {at}",
                text=f"{text} {'share k/m' if at.startswith('k/m') else 'k'}",
                expected=f"mean of the smaller set higher, at {at}",
                kind="superiority",
                margin=GAMMA_MARGIN,
                unit="change ratio",
                family="smaller on the larger set",
                measure=f"change ratio at {at}",
                note=f"{a.mean:.3f} on the smaller, {b.mean:.3f} on the larger",
            )
            yield claim, a.minus(b), first if first == second else THESE_WORLDS


def _places(method: str, small: Members, large: Members) -> Iterator[tuple[str, str, str]]:
    """Claim, contrast and wording of the observations under both readings."""
    if _contrasts(small, f"gamma {method}") and _contrasts(large, f"gamma {method}"):
        yield f"gamma {method}", "value", f"k/m = {PAPERS_K}"
    common = _contrasts(small, f"gammas {method}") & _contrasts(large, f"gammas {method}")
    if common:
        k = min(sorted(common, key=int), key=lambda name: abs(int(name) - PAPERS_NUMBER))
        yield f"gammas {method}", k, f"k = {k}"


def _contrasts(members: Members, claim: str) -> set[str]:
    """Contrasts of a claim that all members share."""
    return set.intersection(*(set(observations.get(claim, {})) for observations in members.values()))
