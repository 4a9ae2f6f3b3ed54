"""Tables 1 to 4 of Lin 2011, and tables beyond the paper's. Figures of the study's methods are means over the seeds of the clusters.

Beyond the paper: seeds and settings, clusters that fell back, the controls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.datasets.judged import load_judged
from qdrank.evaluation.comparison import compare, guarded
from qdrank.evaluation.difficulty import Difficulty, breakdown, difficulty
from qdrank.evaluation.pairs import Pairs, fit_columns, method_pairs, query_values
from qdrank.evaluation.significance import holm
from qdrank.figures.difficulty import readable_breakdown
from qdrank.measures.names import parse
from qdrank.rankers.methods import CLASSIC
from qdrank.rankers.stages import FIRST_STAGES
from qdrank.studies.lin2011.claims import TABLE2
from qdrank.studies.lin2011.methods import AGGREGATING, METHODS, PAPER, RANKSVM, label
from qdrank.studies.lin2011.observations import aggregators, as_fits
from qdrank.studies.making import Inputs, Shown

_SURE = 0.05
#: Measures of Tables 1 and 3, and how many queries of each side Table 4 shows.
_SHORT = ("ap", "mean_ndcg/letor4", "p@1/letor4", "p@5/letor4", "ndcg@1/letor4", "ndcg@5/letor4", "ndcg@10/letor4")
_SHOWN = 10


def tabulate(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:
    """Tables 1 to 4, by id."""
    seeds, baselines = inputs.table("seeds", "measures"), inputs.table("baselines", "measures")
    classes = difficulty(load_judged(inputs.path("judged"), []), shown.options["classes"])
    values = as_fits(seeds)
    return {
        "lin-table1": aggregation_table(values, baselines),
        "lin-table2": methods_table(seeds, baselines, shown.interval),
        "lin-table3": difficulty_table(_with(values, baselines, _stages(baselines)), classes, shown.interval),
        "lin-table4": queries_table(values, inputs.table("topics", "topics"), classes),
    }


def _label(method: str) -> str:
    return CLASSIC[method].label if method in CLASSIC else FIRST_STAGES.get(method) or label(method)


def _present(measures: pa.Table) -> list[str]:
    known = set(measures.column("method").to_pylist())
    return [method.name for method in METHODS if method.name in known]


def _means(measures: pa.Table, method: str, names: Sequence[str]) -> dict[str, float]:
    return {
        parse(n).title: float(query_values(measures, [method], n)[1].mean())
        for n in names
        if n in measures.column_names
    }


# ---- Table 1 ---------------------------------------------------------------------------------------------------------


def aggregation_table(values: pa.Table, baselines: pa.Table) -> pa.Table:
    """BordaCount and CPS for both readings of the ranks, beside the study's methods on features from the same ranks.

    Data without rankings to aggregate have no rows of BordaCount and CPS.
    """
    rows = []
    for reading, suffix in (("ranks: 1 is best", ""), ("ranks: 1 is worst (upside down)", "-high")):
        for method in aggregators(baselines, suffix):
            name = _label(method.removesuffix("-high"))
            rows.append({"method": name, "input": reading, **_means(baselines, method, _SHORT)})
    known = "features made of the same ranks" if rows else "features"
    rows += [{"method": _label(name), "input": known, **_means(values, name, _SHORT)} for name in (RANKSVM, *PAPER)]
    rows += [{"method": _label(name), "input": "", **_means(baselines, name, _SHORT)} for name in _stages(baselines)]
    return pa.Table.from_pylist(rows)


# ---- Table 2 ---------------------------------------------------------------------------------------------------------


def methods_table(seeds: pa.Table, baselines: pa.Table, interval: Mapping[str, Any]) -> pa.Table:
    """Every method on every measure of the paper's Table 2, its difference from RankSVM in MAP with interval and test.

    ``+`` after a mean: above RankSVM's, as in the paper; ``*``: significantly different from it, p < 0.05 in a paired
    t test, Holm-corrected for all methods on that measure.
    """
    values = as_fits(seeds)
    others = _others(baselines)
    whole = _with(values, baselines, others)
    names = [name for name in TABLE2 if name in values.column_names]
    methods = [*_present(values), *others]
    marks = {name: _marks(whole, methods, name) for name in names}
    rows = []
    for method in methods:
        row: dict[str, Any] = {"method": _label(method)}
        row |= {parse(name).title: marks[name][method] for name in names}
        apart = [_apart(whole, method, name).differences.mean() for name in names]
        row |= {"measures above RankSVM": f"{sum(value > 1e-12 for value in apart)} of {len(apart)}"}
        apart_in_map = compare(_apart(whole, method, "ap"), **interval)
        row |= {
            "MAP: difference": apart_in_map.difference,
            "low": apart_in_map.interval.low,
            "high": apart_in_map.interval.high,
        }
        row |= {
            "p": None if method == RANKSVM else apart_in_map.t.p,
            "smallest detectable difference": apart_in_map.detectable,
        }
        rows.append(row | fit_columns(whole, method, "ap"))
    return pa.Table.from_pylist(rows)


def _others(baselines: pa.Table) -> list[str]:
    """Learners and first stages among the baselines; aggregators are in Table 1."""
    known = set(baselines.column("method").to_pylist())
    learners = [name for name, method in CLASSIC.items() if not method.aggregates and name in known]
    return [*learners, *_stages(baselines)]


def _stages(baselines: pa.Table) -> list[str]:
    """First stages among the baselines: a row in every table of methods."""
    known = set(baselines.column("method").to_pylist())
    return [name for name in FIRST_STAGES if name in known]


def _with(values: pa.Table, baselines: pa.Table, methods: Sequence[str]) -> pa.Table:
    """Measures of the study's methods, and those of ``methods`` among the baselines."""
    ours = values.select(baselines.column_names)
    wanted = baselines.filter(pc.is_in(baselines.column("method"), pa.array(methods, pa.string())))
    return pa.concat_tables([ours, wanted.cast(ours.schema)])


def _apart(measures: pa.Table, method: str, name: str) -> Pairs:
    return method_pairs(measures, method, RANKSVM, name)


def _stands(pairs: Pairs, level: float) -> bool:
    """Whether a difference that the t test finds may be told at ``level``, as in tables of tests."""
    lacks, (low, high) = guarded(pairs, level)
    return not lacks and not low <= 0 <= high


def _marks(measures: pa.Table, methods: Sequence[str], name: str) -> dict[str, str]:
    """Means as text with the marks of the paper."""
    from qdrank.evaluation.significance import paired_t

    apart = {method: _apart(measures, method, name) for method in methods if method != RANKSVM}
    tests = {method: paired_t(pairs) for method, pairs in apart.items()}
    corrected = holm({method: test.p for method, test in tests.items()}, family=name).adjusted
    sure = {method for method, p in corrected.items() if p < _SURE and _stands(apart[method], _SURE / len(apart))}
    marked = {}
    for method in methods:
        mean = float(query_values(measures, [method], name)[1].mean())
        plus = "+" if method in tests and tests[method].difference > 1e-12 else ""
        marked[method] = f"{mean:.4f}{plus}{'*' if method in sure else ''}"
    return marked


# ---- Tables 3 and 4 --------------------------------------------------------------------------------------------------


def difficulty_table(values: pa.Table, classes: Difficulty, interval: Mapping[str, Any]) -> pa.Table:
    """RankSVM, the methods and the first stages on hard, normal and easy queries, with shares, intervals and tests."""
    names = [name for name in ("ap", "mean_ndcg/letor4", "p@5/letor4", "ndcg@5/letor4") if name in values.column_names]
    by_class = breakdown(
        values, classes, names, baseline=RANKSVM, methods=[RANKSVM, *PAPER, *FIRST_STAGES], interval=interval
    )
    return readable_breakdown(by_class, {method.name: method.label for method in METHODS} | FIRST_STAGES, RANKSVM)


def queries_table(values: pa.Table, topics: pa.Table, classes: Difficulty, n: int = _SHOWN) -> pa.Table:
    """The queries with the largest gains and losses of the aggregating methods over RankSVM, with their words."""
    words = dict(zip(topics.column("query_id").to_pylist(), topics.column("text").to_pylist(), strict=True))
    relevant = dict(zip(classes.query_id.tolist(), classes.relevant.tolist(), strict=True))
    rows = []
    for method in AGGREGATING:
        ids, ap = query_values(values, [method, RANKSVM, *PAPER], "ap")
        order = np.argsort(-(ap[:, 0] - ap[:, 1]).round(12), kind="stable")
        chosen = [*(("gain", i) for i in order[:n]), *(("loss", i) for i in order[::-1][:n])]
        class_of = classes.of(ids)
        for side, i in chosen:
            gain = float(ap[i, 0] - ap[i, 1])
            if (gain > 0) != (side == "gain") or gain == 0:
                continue
            row: dict[str, Any] = {"method": _label(method), "": side, "query": ids[i], "words": words.get(ids[i])}
            row |= {"relevant": relevant[ids[i]], "class": class_of[i], "RankSVM": float(ap[i, 1])}
            row |= {_label(name): float(ap[i, 2 + j]) for j, name in enumerate(PAPER)}
            rows.append(row | {"difference": gain})
    kinds = [pa.string()] * 4 + [pa.int64(), pa.string()] + [pa.float64()] * 5
    names = ["method", "", "query", "words", "relevant", "class", "RankSVM", *map(_label, PAPER), "difference"]
    return pa.Table.from_pylist(rows, pa.schema(list(zip(names, kinds, strict=True))))


def tabulate_details(inputs: Inputs, shown: Shown) -> dict[str, pa.Table]:  # noqa: ARG001
    """All these tables, by id."""
    return {
        "lin-seeds": seeds_table(inputs.table("seeds", "measures"), inputs.tables("choices", "choices")),
        "lin-clusters": clusters_table(inputs.table("clusters", "table")),
        "lin-controls": controls_table(inputs.table("controls", "table")),
    }


def seeds_table(seeds: pa.Table, choices: Sequence[pa.Table]) -> pa.Table:
    """Test MAP of every method and seed, and the settings that validation chose in each fold."""
    means = seeds.group_by(["method", "seed"], use_threads=False).aggregate([("ap", "mean")]).to_pylist()
    chosen: dict[tuple[str, str], list[str]] = {}
    for row in (row for table in choices for row in table.to_pylist() if row["chosen"]):
        seed, _, setting = row["setting"].partition(" ")
        key = (row["method"], seed.removeprefix("seed=")) if seed.startswith("seed=") else (row["method"], "0")
        chosen.setdefault(key, []).append(setting if seed.startswith("seed=") else row["setting"])
    rows = []
    for row in means:
        settings = "; ".join(chosen.get((row["method"], str(row["seed"])), []))
        seed = row["seed"] or None
        rows.append({"method": label(row["method"]), "seed": seed, "MAP": row["ap_mean"], "settings by fold": settings})
    return pa.Table.from_pylist(rows)


def clusters_table(clusters: pa.Table) -> pa.Table:
    """Means over folds and seeds: clusters, how many were empty and how many fell back to the global model, their sizes."""
    keys = ["scheme", "clusters"]
    names = ("empty", "fallback", "queries_mean", "queries_least", "queries_most")
    wanted = [(name, "mean") for name in names] + [("largest_gap", "max")]
    means = clusters.group_by(keys, use_threads=False).aggregate(wanted).sort_by([(key, "ascending") for key in keys])
    labels = ["empty", "without pairs: global model", "queries, mean", "least", "most"]
    columns = {"scheme": means.column("scheme"), "clusters": means.column("clusters")}
    columns |= {text: means.column(f"{name}_mean") for text, name in zip(labels, names, strict=True)}
    return pa.table(columns | {"largest certified gap (1e-6)": np.asarray(means.column("largest_gap_max")) * 1e6})


def controls_table(controls: pa.Table) -> pa.Table:
    """How well the perturbed models match the local ones: means over folds and seeds by number of clusters."""
    names = ("size", "wanted", "reached", "test_local", "test_perturbed", "test_random")
    means = controls.group_by("m", use_threads=False).aggregate([(name, "mean") for name in names])
    means = means.sort_by([("m", "ascending")])
    labels = [
        "size of the perturbation",
        "mean AP of local models, validation",
        "of perturbed models, validation",
        "of local models, test",
        "of perturbed models, test",
        "of models of random clusters, test",
    ]
    columns = {"clusters": means.column("m")}
    return pa.table(columns | {text: means.column(f"{name}_mean") for text, name in zip(labels, names, strict=True)})
