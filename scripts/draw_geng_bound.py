"""The stability bound of Geng 2008."""

import pyarrow as pa

from qdrank.jobs import job
from qdrank.store import read
from qdrank.studies.geng2008.bound import draw

with job(snakemake.log[0]):
    draw(
        pa.concat_tables([read(path, "figure") for path in snakemake.input.bounds]),
        dict(snakemake.output.items()),
        title=snakemake.params.title,
        dpi=snakemake.params.dpi,
    )
