"""What the rankers of a fold need to serve new queries."""

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.jobs import job
from qdrank.queries.artifacts import VectorOptions, load_neighbours, load_queries
from qdrank.queries.fitted import load_metric, load_scale
from qdrank.rankers.global_models import GlobalModels
from qdrank.rankers.local_models import ModelBank
from qdrank.serving.build import packed_rankers, study_terms
from qdrank.store import read, write
from qdrank.studies.geng2008 import STUDY
from qdrank.studies.geng2008.fold import chosen_settings

with job(snakemake.log[0]) as log:
    files, fold = snakemake.input, snakemake.wildcards.fold
    judged, topics = load_judged(files.judged, ["features"]), read(files.topics, "topics")
    queries, (_, nearest) = load_queries(files.queries), load_neighbours(files.neighbours)
    whole = GlobalModels(read(files.whole, "models"))
    local = ModelBank(read(files.local, "local_models"))
    named = chosen_settings(read(files.choices, "choices"))
    chosen = {public: named[fold, method] for public, method in STUDY.served.items()}
    log.info("%s", ", ".join(f"{method}: {of.text}" for method, of in chosen.items()))
    seen = {**snakemake.params.seen, "queries": VectorOptions(**snakemake.params.seen["queries"])}
    training = {"fold": fold, "scale": seen["scale"], **snakemake.params.training}
    reference, largest = reference_column(files.columns), nearest.shape[1]
    terms = study_terms(judged, topics, reference, chosen, largest=largest, training=training, **seen)
    fitted = load_scale(files.scale), load_metric(files.metric)
    rankers = packed_rankers(judged, topics, fold, queries, nearest, whole, local, terms, *fitted)
    write(snakemake.output[0], "rankers", rankers.to_table())
