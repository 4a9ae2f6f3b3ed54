"""What the rankers of a fold need to serve new queries."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.jobs import job
from qdrank.queries.artifacts import load_neighbours, load_queries
from qdrank.rankers.global_models import GlobalModels
from qdrank.rankers.local_models import ModelBank
from qdrank.serving.build import packed, served_settings, study_terms
from qdrank.store import read, write

with job(snakemake.log[0]) as log:
    files, fold = snakemake.input, snakemake.wildcards.fold
    judged, topics = load_judged(files.judged, ["features"]), read(files.topics, "topics")
    queries, (_, nearest, _) = load_queries(files.queries), load_neighbours(files.neighbours)
    whole = GlobalModels(read(files.whole, "models"))
    local = ModelBank(read(files.local, "local_models"))
    chosen = served_settings(read(files.choices, "choices"), fold)
    log.info("%s", ", ".join(f"{method}: {of.text}" for method, of in chosen.items()))
    terms = study_terms(
        judged, topics, reference_column(files.columns), chosen, largest=nearest.shape[1], **snakemake.params.seen
    )
    rankers = packed(judged, topics, fold, queries, nearest, whole, local, terms)
    write(snakemake.output[0], "rankers", rankers.to_table())
