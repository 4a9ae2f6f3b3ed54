"""A small fold of affine copies with all that the study makes of it, computed once for the tests."""

from functools import cache

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.features import simulate_affine
from qdrank.figures.numbers import where
from qdrank.rankers.documents import fold_documents
from qdrank.store.schemas import shape_of
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.running import View
from qdrank.studies.zha2006.fits import Fitter
from qdrank.studies.zha2006.fold import cells_table, fold_run, maps_table, objectives_table
from qdrank.studies.zha2006.methods import Options
from qdrank.studies.zha2006.tables import in_cell

OPTIONS = Options(
    targets="grades",
    gains="auto",
    depth=5,
    penalties="scaled",
    weighted=True,
    tol=1e-8,
    rounds=1,
    lam_alpha=[1.0, 10.0],
    lam_beta=[0.1, 1.0],
    paper_alpha=10.0,
    paper_beta=1.0,
    weak=0.001,
    lam_h=[1.0, 100.0],
    trees=10,
    learning_rates=[0.2],
    leaves=[4, 7],
    min_leaf=[10],
    refits=3,
    jitter=0.01,
    usual={"ranksvm": {"lam": [1.0, 0.01]}, "lambdamart": {}},
)
PAPER = OPTIONS.paper
INTERVAL = {"level": 0.95, "resamples": 100, "seed": 1}


@cache
def copies():
    data = simulate_affine(3, train=30, vali=10, test=14, features=6, documents=(8, 12))
    ids, parts = data.query_id.astype(object), data.query_part.astype(object)
    judged = Judged(ids, parts, data.offsets, data.document.astype(object), data.y.astype(np.int64), data.X)
    return judged, dict(zip(ids.tolist(), data.types.tolist(), strict=True))


@cache
def run(*regressors, **changed):
    """All methods of the fold, or those of some regressors with other options."""
    judged, _ = copies()
    view, options = View.of(fold_documents(judged, "fold1")), OPTIONS.model_copy(update=changed)
    return fold_run("fold1", view, regressors or ["ridge", "trees"], options, int(judged.y.max()), seed=1)


def fitter(h, options=OPTIONS):
    """What fits a regressor, with nothing fitted yet."""
    return Fitter(run().options[h].data, h, options)


@cache
def tables():
    """Cells, maps, objectives and choices of both regressors."""
    made = (cells_table, maps_table, objectives_table)
    of_both = (pa.concat_tables([table(run(), h) for h in ("ridge", "trees")]) for table in made)
    return *of_both, pa.Table.from_pylist(run().choices, shape_of("choices").schema({}))


class Given(Inputs):
    """Tables in memory in place of files."""

    def __init__(self, **given):
        super().__init__({})
        object.__setattr__(self, "given", given)

    def tables(self, name, shape):
        return [self.given[name]]


def shown(**options):
    return Shown(
        "copies",
        "Affine copies",
        ["fold1"],
        INTERVAL,
        {"paper_alpha": PAPER[0], "paper_beta": PAPER[1], "targets": "grades"} | options,
    )


def rows_of(table, cell=None, role="test", **equal):
    """Rows of a table of the study by fold and query."""
    rows = where(table.to_pandas(), role=role, **equal)
    rows = rows if cell is None else in_cell(rows, cell)
    return rows.sort_values(["fold", "query_id"]).reset_index(drop=True)


def values(cells, h, kind, cell=None):
    """Test rows of a fit."""
    return rows_of(cells, cell, h=h, kind=kind)
