"""Ensembles of methods on a fold, learned on the validation queries."""

from qdrank.evaluation.measuring import scores_table
from qdrank.jobs import job
from qdrank.rankers.documents import load_fold
from qdrank.rankers.learning import load_method
from qdrank.store import write
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.stacking import stacked_scores

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    parts = load_fold(files.judged, snakemake.wildcards.fold, params.scale, columns=["doc_id", "features"]).parts
    models = {method: load_method(path) for method, path in zip(params.methods, files.models, strict=True)}
    scores = {
        method: {role: model.predict(parts[role]) for role in ("vali", "test")} for method, model in models.items()
    }
    for method, found in stacked_scores(parts, scores, Options(**params.hoi)).items():
        write(snakemake.output[method], "scores", scores_table(parts["test"], found))
