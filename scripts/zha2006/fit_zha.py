"""One regressor with and without aTVT on a fold, and the learner of pairs or lists that it is set against."""

import pyarrow as pa

from qdrank.datasets.judged import load_judged
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.learned import LearnerRanker
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.studies.zha2006.data import fold_data
from qdrank.studies.zha2006.fold import run_fold
from qdrank.studies.zha2006.methods import method_name
from qdrank.studies.zha2006.options import Options
from qdrank.studies.zha2006.pairwise import run_pairwise
from qdrank.studies.zha2006.shapes import CELLS_SHAPE, MAPS_SHAPE, OBJECTIVES_SHAPE
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, out = snakemake.params, snakemake.output
    fold, h = snakemake.wildcards.fold, snakemake.wildcards.regressor
    judged = load_judged(snakemake.input.judged)
    documents = fold_documents(judged, fold, params.scale)
    data = fold_data(documents, Options(**params.zha), int(judged.y.max()), params.seed)
    found = run_fold(fold, data, h, Options(**params.zha))
    cells, choices, scores, learner = run_pairwise(fold, documents, data, h)
    write(out.cells, CELLS_SHAPE, pa.concat_tables([found.cells, cells]))
    write(out.maps, MAPS_SHAPE, found.maps)
    write(out.objectives, OBJECTIVES_SHAPE, found.objectives)
    write(out.choices, "choices", pa.concat_tables([found.choices, choices], promote_options="default"))
    for kind, table in {**found.scores, "pairwise": scores}.items():
        write(out[f"scores_{kind}"], "scores", table)
    for kind, model in {**found.models, "pairwise": learner}.items():
        method, ranker = method_name(h, kind), LearnerRanker(learner=model)
        served = ServedRanker(method=method, fold=fold, documents=documents.view(), ranker=ranker)
        write_ranker(out[f"served_{kind}"], served)
    for row in found.choices.to_pylist():
        if row["chosen"]:
            log.info("%s: %s", row["method"], row["setting"])
