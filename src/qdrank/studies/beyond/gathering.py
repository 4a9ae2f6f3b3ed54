"""The job that gathers the steps of a fold: one table of choices, one of controls, and the ranker that validation chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qdrank.datasets.judged import TextArray
from qdrank.layout import FloatArray
from qdrank.learners.choose import choose
from qdrank.rankers.state import with_param
from qdrank.store import read, write
from qdrank.studies.beyond.methods import CHOSEN, CONTROLS, FIXED, GATED, MEASURE, OF_CHOSEN, OTHER_GATE, SINGLE, TREES

#: Methods and controls in the order of the tables.
ORDER = (
    SINGLE,
    TREES,
    *(name for pair in CONTROLS.items() if pair[0] != GATED for name in pair),
    FIXED,
    GATED,
    CONTROLS[GATED],
    OTHER_GATE,
)
# A step may have no controls, and then its table has no rows.
_VALUES = pa.schema(
    [
        ("fold", pa.string()),
        ("control", pa.string()),
        ("near", pa.float64()),
        ("fit", pa.int64()),
        ("query_id", pa.string()),
        (MEASURE, pa.float64()),
    ]
)


def gather_steps(files: Mapping[str, Any], out: Mapping[str, str], fold: str, *, refits: int) -> None:
    """Write the tables of all steps of a fold, and scores of all fits and ranker of the method that validation chose.

    ``files`` has the tables of every step, and scores, further fits and rankers of the methods to choose from.
    """
    choices = _joined(files["choices"], "choices", "method")
    chosen = chosen_method(choices)
    controls = _joined(files["controls"], "figure", "control")
    of_chosen = values_table(fold, *_values_of(controls, CONTROLS[chosen], refits), 0.0)
    n_all = pc.sum(pc.equal(controls.column("near"), 0.0)).as_py()
    write(out["choices"], "choices", choices)
    write(
        out["controls"],
        "figure",
        pa.concat_tables([controls.slice(0, n_all), of_chosen, controls.slice(n_all)]).combine_chunks(),
    )
    scores = read(files[chosen], "scores")
    write(out[CHOSEN], "scores", scores)
    if refits > 1:
        again = files.get(f"refits_{chosen}")
        fits = _repeated(scores, refits) if again is None else read(again, "refits")
        write(out[f"refits_{CHOSEN}"], "refits", fits)
    ranker = with_param(read(files[f"served_{chosen}"], "rankers"), "method", CHOSEN)
    write(out[f"served_{CHOSEN}"], "rankers", ranker)


def chosen_method(choices: pa.Table) -> str:
    """The query-dependent method that does best on validation in a fold."""
    best = {row["method"]: row["value"] for row in choices.to_pylist() if row["chosen"]}
    return choose((name, best[name]) for name in CONTROLS).chosen


def values_table(fold: str, query_id: TextArray, values: Mapping[str, FloatArray], near: float) -> pa.Table:
    """Values (n_queries, n_fits) of the test queries by control; ``near`` is 0 if all queries are used."""
    n = len(query_id)
    tables = [
        pa.table(
            {
                "fold": pa.array([fold] * n, pa.string()),
                "control": pa.array([name] * n, pa.string()),
                "near": np.full(n, near),
                "fit": np.full(n, fit),
                "query_id": pa.array(query_id, pa.string()),
                MEASURE: ap,
            }
        )
        for name, by_fit in values.items()
        for fit, ap in enumerate(by_fit.T)
    ]
    return pa.concat_tables([_VALUES.empty_table(), *tables])


def _joined(paths: Sequence[str] | str, kind: Any, column: str) -> pa.Table:
    """Tables of the steps in one: values of all queries before those without near-duplicates, then in `ORDER`."""
    tables = [read(path, kind) for path in ([paths] if isinstance(paths, str) else paths)]
    table = pa.concat_tables(tables)
    place = np.array([ORDER.index(name) for name in table.column(column).to_pylist()], dtype=np.int64)
    if "near" not in table.column_names:
        return table.take(np.argsort(place, kind="stable"))
    near = table.column("near").to_pylist()
    turn = {value: i for i, value in enumerate(dict.fromkeys([0.0, *near]))}
    return table.take(np.lexsort((place, np.array([turn[value] for value in near]))))


def _repeated(scores: pa.Table, refits: int) -> pa.Table:
    """The artifact ``refits`` of a method that draws nothing: every further fit has the same scores."""
    fits = [scores.add_column(0, "fit", pa.array(np.full(len(scores), fit))) for fit in range(1, refits)]
    return pa.concat_tables(fits)


def _values_of(controls: pa.Table, name: str, refits: int) -> tuple[Any, dict[str, FloatArray]]:
    """Queries, and values of a control as those of the chosen ranker's: of what is fitted once, for every fit."""
    rows = controls.filter(pc.and_(pc.equal(controls.column("control"), name), pc.equal(controls.column("near"), 0.0)))
    by_fit = rows.column(MEASURE).to_numpy().reshape(pc.max(rows.column("fit")).as_py() + 1, -1).T
    query_id = rows.column("query_id").to_numpy(zero_copy_only=False)[: len(by_fit)]
    wide = np.broadcast_to(by_fit, (len(by_fit), refits)) if by_fit.shape[1] == 1 else by_fit
    return query_id, {OF_CHOSEN: wide}
