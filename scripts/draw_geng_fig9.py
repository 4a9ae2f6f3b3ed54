"""Figure 9 of Geng 2008: change ratios."""

import pyarrow as pa

from qdrank.jobs import job
from qdrank.store import read
from qdrank.studies.geng2008.fig9 import draw

with job(snakemake.log[0]):
    draw(
        pa.concat_tables([read(path, "sweep") for path in snakemake.input.sweeps]),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        lam=snakemake.params.lam,
        dpi=snakemake.params.dpi,
        interval=snakemake.params.interval,
    )
