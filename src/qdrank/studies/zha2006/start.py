"""What fits of trees on a fold begin with, kept for other jobs: the plain regressor's setting, and trees without weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from qdrank.errors import AnyPath
from qdrank.learners.atvt.regressors import FirstFit, GrownTrees
from qdrank.store import read, write
from qdrank.studies.zha2006.fits import Params
from qdrank.studies.zha2006.shapes import START_SHAPE


@dataclass(frozen=True)
class Start:
    """The setting of h that the plain regressor chose, and what was grown on the way."""

    setting: Params
    grown: GrownTrees = field(default_factory=GrownTrees)


def write_start(path: AnyPath, start: Start) -> None:
    """Write the trees, and which of them have the setting."""
    rows = [
        {**fit._asdict(), "text": text, "chosen": start.setting.items() <= fit._asdict().items()}
        for fit, text in start.grown.texts.items()
    ]
    write(path, START_SHAPE, pa.Table.from_pylist(rows))


def read_start(path: AnyPath) -> Start:
    """What `write_start` wrote."""
    rows = read(path, START_SHAPE).to_pylist()
    chosen = next(row for row in rows if row["chosen"])
    texts = {FirstFit(**{name: row[name] for name in FirstFit._fields}): row["text"] for row in rows}
    return Start({name: chosen[name] for name in ("leaves", "min_leaf", "learning_rate")}, GrownTrees(texts))
