"""A small fold of affine copies with all that the study makes of it, computed once for the tests."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from qdrank.datasets.judged import Judged
from qdrank.datasets.simulated.affine import simulate_affine
from qdrank.figures.numbers import where
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.learning import fit_method
from qdrank.studies.making import Inputs, Shown
from qdrank.studies.zha2006.data import fold_data
from qdrank.studies.zha2006.fits import Fitter
from qdrank.studies.zha2006.fold import run_fold
from qdrank.studies.zha2006.methods import PAIRWISE
from qdrank.studies.zha2006.options import Options
from qdrank.studies.zha2006.pairwise import run_pairwise
from qdrank.studies.zha2006.reading import in_cell

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
)
PAPER = OPTIONS.paper
USUAL = {"lam": [1.0, 0.01]}
INTERVAL = {"level": 0.95, "resamples": 100, "seed": 1}


@cache
def copies():
    data = simulate_affine(3, train=30, vali=10, test=14, features=6, documents=(8, 12))
    ids, parts = data.query_id.astype(object), data.query_part.astype(object)
    judged = Judged(ids, parts, data.offsets, data.document.astype(object), data.y.astype(np.int64), data.X)
    return judged, dict(zip(ids.tolist(), data.types.tolist(), strict=True))


@cache
def fold(h):
    """The fold, and what the study makes of a regressor."""
    judged, _ = copies()
    documents = fold_documents(judged, "fold1")
    data = fold_data(documents, OPTIONS, int(judged.y.max()), 1)
    grid = Fitter(data, h, OPTIONS).pairwise_grid(USUAL)
    choice = fit_method(PAIRWISE[h][0], grid, documents, measure=data.measure, seed=1)
    return data, run_fold("fold1", data, h, OPTIONS), run_pairwise("fold1", data, h, grid, choice, OPTIONS)


@cache
def tables():
    """Cells, maps, objectives and choices of both regressors."""
    found = [(fold(h)[1], fold(h)[2]) for h in ("ridge", "trees")]
    cells = pa.concat_tables([table for one, other in found for table in (one.cells, other[0])])
    choices = [t for one, other in found for t in (one.choices, other[1])]
    maps, objectives = (pa.concat_tables([getattr(one, name) for one, _ in found]) for name in ("maps", "objectives"))
    return cells, maps, objectives, pa.concat_tables(choices, promote_options="default")


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
