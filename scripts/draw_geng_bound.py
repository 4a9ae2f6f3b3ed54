"""The stability bound of Geng 2008."""

import pyarrow as pa

from qdrank.figures.geng_bound import draw
from qdrank.jobs import job
from qdrank.store import read

with job(snakemake.log[0]):
    draw(
        pa.concat_tables([read(path, "figure") for path in snakemake.input.bounds]),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
    )
