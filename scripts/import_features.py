"""Read LETOR text into the artifacts judged, columns and topics."""

import json
from pathlib import Path

from qdrank.datasets.importing import import_features
from qdrank.datasets.registry import load
from qdrank.jobs import job

with job(snakemake.log[0]) as log:
    files = snakemake.params.files
    if not files:
        paths = json.loads(Path(snakemake.input[0]).read_text(encoding="utf-8"))
        files = {part: paths[file.name] for part, file in load()[snakemake.wildcards.dataset].by_part().items()}
    import_features(files, dict(snakemake.output.items()), seed=snakemake.params.seed, **snakemake.params.options)
