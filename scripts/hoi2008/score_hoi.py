"""Weights of a fold put together, every gamma measured, and scores with the chosen ones."""

from qdrank.evaluation.measuring import scores_table
from qdrank.rankers.documents import load_fold
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import read, write
from qdrank.studies.hoi2008.fold import EnsembleFold, gathered_weights
from qdrank.studies.hoi2008.options import Options
from qdrank.studies.hoi2008.scoring import WeightBank, score_fold
from qdrank.studies.hoi2008.shapes import ENSEMBLES_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, out, name = snakemake.params, snakemake.output, snakemake.wildcards.fold
    documents = load_fold(snakemake.input.judged, name, params.scale, columns=["doc_id", "features"])
    weights = gathered_weights([read(path, ENSEMBLES_SHAPE) for path in snakemake.input.shards], documents)
    write(out.weights, ENSEMBLES_SHAPE, weights)
    fold = EnsembleFold(documents, Options(**params.hoi), params.measure, params.seed)
    found = score_fold(name, fold, WeightBank(weights))
    write(out.sweep, "figure", found.sweep)
    write(out.choices, "choices", found.choices)
    for row in found.choices.to_pylist():
        if row["chosen"]:
            log.info("%s: %s, %s %.4f", row["method"], row["setting"], row["measure"], row["value"])
    for method, scores in found.scores.items():
        write(out[method], "scores", scores_table(documents.parts["test"], scores))
        ranker, view = found.rankers[method], documents.view(scaled=False)
        write_ranker(out[f"served_{method}"], ServedRanker(method=method, fold=name, documents=view, ranker=ranker))
