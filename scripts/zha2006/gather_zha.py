"""Tables of all regressors of a fold in one."""

import pyarrow as pa

from qdrank.store import read, write
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE
from qdrank.workflow.script import job, snakemake

SHAPES = {"cells": CELLS_SHAPE, "maps": MAPS_SHAPE, "objectives": OBJECTIVES_SHAPE, "choices": "choices"}

with job(snakemake):
    for name, shape in SHAPES.items():
        files = snakemake.input[name]
        tables = [read(file, shape) for file in ([files] if isinstance(files, str) else files)]
        write(snakemake.output[name], shape, pa.concat_tables(tables))
