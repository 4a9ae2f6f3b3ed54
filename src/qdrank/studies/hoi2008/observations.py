"""Observations for the claims of Hoi and Jin 2008 in the results of a data set: values per test query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.evaluation.observations import Contrast, Observations, contrast, method_difference
from qdrank.evaluation.pairs import fold_of, query_values
from qdrank.layout import FloatArray
from qdrank.studies.hoi2008.claims import WEAK
from qdrank.studies.hoi2008.curves import method_curve
from qdrank.studies.hoi2008.methods import BASELINES, GAMMA, TIES, with_ties
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.studies.making import Inputs, Shown


def gather(inputs: Inputs, shown: Shown) -> Observations:
    """Observations of one data set from its artifacts."""
    measures, values = inputs.table("measures", "measures"), inputs.table("values", "values")
    claims: Observations = {}
    for ties in TIES:
        claims |= _methods(measures, ties) | _gammas(measures, values, ties)
    claims |= _curve_claims(inputs.table("curves", "values"))
    claims["ties"] = {"difference": method_difference(measures, "ser-file", "ser", "ap")}
    claims["gamma = 0"] = {"difference": _same_as_ser(measures, values)}
    claims |= _solutions(inputs.tables("weights", ENSEMBLES_SHAPE), shown.folds)
    return {claim: contrasts for claim, contrasts in claims.items() if contrasts}


def _methods(measures: pa.Table, ties: str) -> Observations:
    """Claims about methods with their chosen settings."""
    present = set(measures.column("method").to_pylist())
    ser, sser = with_ties("ser", ties), with_ties("sser", ties)
    others = [*(method.name for method in BASELINES if method.name in present), ser]
    claims: Observations = {with_ties("sser - ser", ties): {"difference": method_difference(measures, sser, ser, "ap")}}
    claims[with_ties("best MAP", ties)] = {
        f"against {other}": method_difference(measures, sser, other, "ap") for other in others
    }
    for k in (1, 2):
        against = {f"against {other}": method_difference(measures, sser, other, f"p@{k}/letor4") for other in others}
        claims[with_ties(f"best at {k}", ties)] = against
    if "ranksvm" in present:
        claims[with_ties("ranksvm - ser", ties)] = {"difference": method_difference(measures, "ranksvm", ser, "ap")}
    tuned, semi = with_ties("ser-tuned", ties), with_ties("sser-tuned", ties)
    rivals = [*others[:-1], tuned]
    claims[with_ties("tuned best MAP", ties)] = {
        f"against {other}": method_difference(measures, semi, other, "ap") for other in rivals
    }
    weak = [other for other in WEAK if other in present]
    claims[with_ties("tuned - weak", ties)] = {
        f"against {other}": method_difference(measures, tuned, other, "ap") for other in weak
    }
    claims[with_ties("ser - weak", ties)] = {
        f"against {other}": method_difference(measures, ser, other, "ap") for other in weak
    }
    pairs = {
        "fixed": ("sser-fixed", "sser"),
        "constant": ("ser", "ser-varying"),
        "bounds": ("ser", "ser-free"),
        "eta": ("sser", "sser-printed"),
        "structure": ("sser-fixed", "sser-other-fixed"),
        "structure, gamma chosen": ("sser", "sser-other"),
        "tuned": ("ser-tuned", "ser"),
    }
    for claim, (a, b) in pairs.items():
        claims[with_ties(claim, ties)] = {
            "difference": method_difference(measures, with_ties(a, ties), with_ties(b, ties), "ap")
        }
    return claims


def _gammas(measures: pa.Table, values: pa.Table, ties: str) -> Observations:
    curve = method_curve(values, with_ties("sser", ties))
    fold = fold_of(measures)
    folds = [fold[query] for query in curve.query_id]
    fixed = curve.at(GAMMA)
    contrasts = {"rise": fixed - curve.at(0.0), "fall": fixed - curve.values[:, -1]}
    return {with_ties("gamma", ties): {name: contrast(one, curve.query_id, folds) for name, one in contrasts.items()}}


def _curve_claims(table: pa.Table) -> Observations:
    """Gains of SSER over SER per test query, averaged over the repeats of a size."""
    sizes = sorted(size for size in set(table.column("x").to_pylist()) if size)
    if not sizes:
        return {}
    ser, sser = (method_curve(table, method) for method in ("ser", "sser"))
    few, every = ({method: of.at(size) for method, of in (("ser", ser), ("sser", sser))} for size in (sizes[0], 0))
    gain, full = few["sser"] - few["ser"], every["sser"] - every["ser"]
    differences = {"few labels": gain, "more with few": gain - full}
    return {claim: {"difference": contrast(values, ser.query_id, ser.fold)} for claim, values in differences.items()}


def _same_as_ser(measures: pa.Table, values: pa.Table) -> Contrast:
    """Average precision of SSER with gamma = 0 minus SER's, under both rules."""
    fold = fold_of(measures)
    ids: list[str] = []
    differences: list[FloatArray] = []
    for ties in TIES:
        curve = method_curve(values, with_ties("sser", ties))
        ids_of_ser, of_ser = query_values(measures, [with_ties("ser", ties)], "ap")
        assert np.array_equal(ids_of_ser, curve.query_id)
        differences.append(curve.at(0.0) - of_ser[:, 0])
        ids += ids_of_ser.tolist()
    return contrast(np.concatenate(differences), ids, [fold[query] for query in ids])


def _solutions(tables: Sequence[pa.Table], folds: Sequence[str]) -> Observations:
    """Gaps of all programs, and the weights of constant rankers."""
    gaps = [table.column("gap").to_numpy() for table in tables]
    names = [table.column("query_id").to_numpy(zero_copy_only=False) for table in tables]
    in_fold = np.repeat(np.array(folds, dtype=object), [len(of_fold) for of_fold in gaps])
    weights = [_constant_weights(table) for table in tables]
    return {
        "gap": {"value": contrast(np.concatenate(gaps), np.concatenate(names), in_fold)},
        "no weight": {"value": contrast(weights, "", list(folds))},
    }


def _constant_weights(table: pa.Table) -> float:
    """Sum of SER's weights, ties counted as halves, for the rankers that "without constant rankers" leaves out.

    With halves a constant ranker has coefficients of 0, so SER is the same program with and without constant rankers.
    """
    both = [table.filter(pc.equal(table.column("method"), method)) for method in ("ser", "ser-varying")]
    first, second = (np.array(rows.column("weights")[0].as_py()) for rows in both)
    return float(np.abs(first - second).sum())
