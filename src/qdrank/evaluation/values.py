"""Values of a measure by query and fit: of one ranker, of two paired by query id and never by position, or differences.

Frames have a row for each method, or other group, query and fit; the column ``fit`` may lack where everything is fitted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from qdrank.errors import InputError
from qdrank.evaluation.declared import Claim
from qdrank.layout import FloatArray
from qdrank.store.schemas import SHAPES

if TYPE_CHECKING:
    import pandas as pd


_DECIMALS = 12
"""Differences are rounded to this, so that equal ones are equal on every machine and ties are recognised."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Values of rankers a and b for the same queries.

    Attributes
    ----------
    query : (n_queries,) ids, ascending, so that the order of the input does not matter
    a, b : (n_queries,) the values, means over the fits; given as (n_queries, n_fits) where a ranker was fitted several times
    by_fit : (n_queries, n_fits) differences of every fit, rounded
    """

    query: NDArray[Any]
    a: FloatArray
    b: FloatArray
    by_fit: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        a, b = (one.reshape(len(one), -1) for one in (self.a, self.b))
        vars(self).update(a=a.mean(axis=1), b=b.mean(axis=1), by_fit=np.round(a - b, _DECIMALS))

    @property
    def differences(self) -> FloatArray:
        """``a - b``, shape (n_queries,)."""
        return np.round(self.a - self.b, _DECIMALS)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.query)


def join(query_a: ArrayLike, a: ArrayLike, query_b: ArrayLike, b: ArrayLike) -> Pairs:
    """Pair the values ``a`` and ``b`` on their queries' ids; the two may come in different orders.

    Raises `InputError` if an id occurs twice, a value is not finite, queries do not match, or none is left.

    Parameters
    ----------
    query_a, a : (n_a,) ids and values of the first ranker
    query_b, b : (n_b,) ids and values of the second
    """
    ids_a, values_a = _column(query_a, a, "first")
    ids_b, values_b = _column(query_b, b, "second")
    if ids_a.dtype.kind != ids_b.dtype.kind and {ids_a.dtype.kind, ids_b.dtype.kind} & set("US"):
        raise InputError("the query ids of one ranker are text, those of the other are not")
    both, rows_a, rows_b = np.intersect1d(ids_a, ids_b, assume_unique=True, return_indices=True)
    if len(alone := np.setxor1d(ids_a, ids_b, assume_unique=True)):
        raise InputError(
            f"{len(alone)} queries are measured for only one of the two rankers",
            found=str(alone[0]),
            fix="measure both on the same queries",
        )
    if len(both) == 0:
        raise InputError("the two rankers have no query in common")
    return Pairs(both, values_a[rows_a], values_b[rows_b])


def _column(query: ArrayLike, values: ArrayLike, which: str) -> tuple[NDArray[Any], FloatArray]:
    ids, column = np.asarray(query), np.asarray(values, dtype=np.float64)
    if ids.dtype.kind == "O":
        ids = ids.astype(str)
    if ids.ndim != 1 or ids.shape != column.shape:
        raise InputError(f"{which} ranker: {column.shape} values for {ids.shape} queries")
    names, counts = np.unique(ids, return_counts=True)
    if len(names) < len(ids):
        raise InputError(f"{which} ranker: query {names[counts > 1][0]} is measured twice")
    if not np.isfinite(column).all():
        raise InputError(f"{which} ranker: the value of query {ids[~np.isfinite(column)][0]} is not finite")
    return ids, column


@dataclass(frozen=True)
class FoldMeans:
    """Means of a measure over test queries.

    Attributes
    ----------
    folds : the mean of each fold over its queries, by name of the fold
    published : the mean of the folds' means, as LETOR publishes it
    pooled : the mean over all queries, on which tests of significance are based
    """

    folds: dict[str, float]
    published: float
    pooled: float


def fold_means(values: FloatArray, fold: NDArray[Any]) -> FoldMeans:
    """Means of ``values``, shape (n_queries,), over the folds that ``fold``, shape (n_queries,), names."""
    values, fold = np.asarray(values, dtype=np.float64), np.asarray(fold)
    if values.ndim != 1 or values.shape != fold.shape or len(values) == 0:
        raise InputError(f"values of shape {values.shape} with folds of shape {fold.shape}: one of each per query")
    means = {str(name): float(values[fold == name].mean()) for name in np.unique(fold)}
    return FoldMeans(folds=means, published=float(np.mean(list(means.values()))), pooled=float(values.mean()))


@dataclass(frozen=True, eq=False)
class Values:
    """Values of queries, with each query's id and fold, so that anyone can analyse them again.

    Attributes
    ----------
    value : (n_queries, n_fits), from (n_queries,) where there is one fit
    query_id : (n_queries,) or one for all; "" where a value belongs to no single query
    fold : (n_queries,) or one for all; the fold in which the query was a test query, "" likewise
    source : (n_queries,) or one for all; what the query has in common with those of its fold, "" where that is not known
    """

    value: FloatArray
    query_id: NDArray[Any]
    fold: NDArray[Any]
    source: NDArray[Any]

    def __init__(
        self, value: ArrayLike, query_id: ArrayLike = "", fold: ArrayLike = "", source: ArrayLike = ""
    ) -> None:
        values = np.asarray(value, dtype=np.float64)
        if values.ndim not in (1, 2):
            raise InputError(f"values are by query, or by query and fit, not of shape {values.shape}")
        named = {"value": values if values.ndim == 2 else values[:, None]}
        for name, texts in (("query_id", query_id), ("fold", fold), ("source", source)):
            try:
                named[name] = np.broadcast_to(np.asarray(texts, dtype=object), len(values))
            except ValueError:
                raise InputError("values need as many query ids, folds and sources as queries") from None
        vars(self).update(named)

    @classmethod
    def of(cls, frame: pd.Series | pd.DataFrame) -> Values:
        """From values by ``query_id`` and ``fold``, with a column for each fit if there are several."""
        known = [name for name in ("query_id", "fold") if name in frame.index.names]
        return cls(frame.to_numpy(), **{name: frame.index.get_level_values(name) for name in known})


def cube(values: pd.DataFrame, by: Sequence[str], measure: str) -> tuple[pd.DataFrame, pd.Index[str], FloatArray]:
    """Groups in order of appearance, query ids, ascending, and values, (n_queries, n_fits, n_groups).

    A group that is fitted once has the same values in every fit. Raises `InputError` if two groups have other queries, or
    different numbers of fits above one.
    """
    groups = values[list(by)].drop_duplicates(ignore_index=True)
    number = values.groupby(list(by), sort=False, observed=True).ngroup()
    named = values[["query_id", measure]].assign(group=number, fit=values.get("fit", 0))
    wide = named.pivot(index="query_id", columns=["group", "fit"], values=measure).sort_index(axis=1)
    each: list[FloatArray] = [np.asarray(wide[group], dtype=np.float64) for group in range(len(groups))]
    fits = max((one.shape[1] for one in each), default=1)
    for group, one in zip(groups.itertuples(index=False), each, strict=True):
        if np.isnan(one).any():
            raise InputError(f"{', '.join(map(str, group))}: not measured on the same queries as the others")
        if one.shape[1] not in (1, fits):
            raise InputError(f"{', '.join(map(str, group))}: {one.shape[1]} fits, others have {fits}")
    return groups, wide.index, np.stack([np.broadcast_to(one, (len(wide), fits)) for one in each], axis=2)


def pairs(values: pd.DataFrame, a: str, b: str, measure: str) -> Pairs:
    """Values of two methods on the same queries, with their differences in every fit."""
    groups, ids, of = cube(values[values["method"].isin([a, b])], ["method"], measure)
    first, second = (of[:, :, groups["method"].tolist().index(name)] for name in (a, b))
    return Pairs(ids.to_numpy(object), first, second)


def difference(values: pd.DataFrame, a: str, b: str, measure: str) -> Values:
    """Method ``a`` minus method ``b`` on every query, in every fit."""
    apart, fold = pairs(values, a, b, measure), values.drop_duplicates("query_id").set_index("query_id")["fold"]
    return Values(apart.by_fit, apart.query, fold[apart.query])


Observations = dict[str, dict[str, Values]]
"""Contrasts by the name of the claim and of the contrast."""


def observe(claims: Iterable[Claim], values: pd.DataFrame, own: Observations) -> Observations:
    """Differences of the methods that claims compare, where both were measured, and a study's ``own`` values for the others."""
    run = set(values["method"])
    compared = {
        claim.name: {
            name: difference(values, *pair, claim.measure) for name, pair in claim.pairs.items() if run.issuperset(pair)
        }
        for claim in claims
    }
    return {name: contrasts for name, contrasts in (compared | own).items() if contrasts}


def with_sources(observations: Observations, source: Mapping[str, str]) -> Observations:
    """Observations with the source of every query; values that belong to no single query stay as they are.

    A query without a candidate, which retrieval measures and no table of topics has, is a source of its own.
    """
    return {
        claim: {
            name: Values(of.value, of.query_id, of.fold, [source.get(query, query) for query in of.query_id])
            for name, of in contrasts.items()
        }
        for claim, contrasts in observations.items()
    }


def check_observations(table: pa.Table) -> Observations:
    """Values of checks of an implementation, from a table of check, fold and value."""
    checks = table.to_pandas().groupby("check", sort=False)
    return {name: {"value": Values(of["value"], "", of["fold"])} for name, of in checks}


def observations_table(
    own: Observations,
    values: pd.DataFrame | None = None,
    claims: Iterable[Claim] = (),
    source: Mapping[str, str] | None = None,
) -> pa.Table:
    """The artifact ``observations``, in six digits, by the id of the query: its values lie together, and many are alike.

    Parameters
    ----------
    own : contrasts of claims that are no difference of methods
    values, claims : measures of methods, and the claims that compare them; a value is kept once, whatever the number of claims
    source : what each query has in common with others of its fold, if that is known
    """
    parts = [*_rows_of_methods(values, claims), *_rows_of_own(own)]
    schema = SHAPES["observations"].schema({})
    table = pa.concat_tables([schema.empty_table(), *(pa.table(part, schema) for part in parts)]).sort_by("query_id")
    if source:
        sources = [source.get(query, query) for query in table.column("query_id").to_pylist()]
        table = table.append_column(pa.field("source", pa.string(), nullable=False), pa.array(sources, pa.string()))
    return table.combine_chunks()


def six_digits(values: ArrayLike) -> NDArray[np.float32]:
    """Numbers (n,) in six digits, which single precision holds; what is not 0 stays so."""
    return np.char.mod("%.6g", np.asarray(values, dtype=np.float64)).astype(np.float32)


def _rows_of_methods(values: pd.DataFrame | None, claims: Iterable[Claim]) -> Iterator[dict[str, Any]]:
    if values is None:
        return
    of = {str(name): rows for name, rows in values.groupby("method", sort=False)}
    pairs = [(claim.measure, pair) for claim in claims for pair in claim.pairs.values() if of.keys() >= {*pair}]
    for measure, method in dict.fromkeys((measure, method) for measure, pair in pairs for method in pair):
        rows, n = of[method], len(of[method])
        named = {"method": [method] * n, "measure": [measure] * n, "claim": [""] * n, "contrast": [""] * n}
        of_query = {"fold": rows["fold"], "query_id": rows["query_id"], "fit": rows.get("fit", [0] * n)}
        yield named | of_query | {"value": six_digits(rows[measure])}


def _rows_of_own(own: Observations) -> Iterator[dict[str, Any]]:
    for claim, contrasts in own.items():
        for name, of in contrasts.items():
            (n, fits), size = of.value.shape, of.value.size
            named = {"method": [""] * size, "measure": [""] * size, "claim": [claim] * size, "contrast": [name] * size}
            of_query = {"fold": of.fold.repeat(fits), "query_id": of.query_id.repeat(fits)}
            yield named | of_query | {"fit": np.tile(np.arange(fits), n), "value": six_digits(of.value.ravel())}


def load_observations(table: pa.Table, claims: Iterable[Claim] = ()) -> Observations:
    """Observations from the artifact ``observations``: what claims compare, and a study's own.

    Raises `InputError` if a query lacks a fit: a mean over other fits for every query would mix the two sources of spread.
    """
    frame = table.to_pandas().astype({"value": np.float64})
    of_methods, claims = frame["method"] != "", list(claims)
    found: Observations = {}
    for measure, rows in frame[of_methods].groupby("measure"):
        of_measure = [one for one in claims if one.measure == measure]
        found |= observe(of_measure, rows.rename(columns={"value": measure}), {})
    for (claim, name), rows in frame[~of_methods].groupby(["claim", "contrast"], sort=False):
        found.setdefault(claim, {})[name] = _own_values(rows, f"{claim}, {name}")
    return (
        with_sources(found, dict(zip(frame["query_id"], frame["source"], strict=True))) if "source" in frame else found
    )


def _own_values(rows: pd.DataFrame, what: str) -> Values:
    """Values of one contrast, with a column for each fit if there are several; queries in the order of the rows."""
    if not rows["fit"].any():
        return Values(rows["value"], rows["query_id"], rows["fold"])
    of_query = ["query_id", "fold"]
    by_fit = rows.pivot(index=of_query, columns="fit", values="value")
    if by_fit.size != len(rows):
        raise InputError(f"{what}: a query has fewer fits than others", fix="give one of every fit")
    return Values.of(by_fit.loc[[*rows[of_query].drop_duplicates().itertuples(index=False)]])
