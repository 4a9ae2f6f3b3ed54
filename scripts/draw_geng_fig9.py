"""Figure 9 of Geng 2008: change ratios."""

import pyarrow as pa

from qdrank.figures.geng_fig9 import draw
from qdrank.jobs import job
from qdrank.store import read

with job(snakemake.log[0]):
    draw(
        pa.concat_tables([read(path, "sweep") for path in snakemake.input.sweeps]),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        lam=snakemake.params.lam,
        dpi=snakemake.params.dpi,
        interval=snakemake.params.interval,
    )
