"""All rankers and controls of a fold: choices, scores, values of the controls, checks, and rankers to serve."""

import pyarrow as pa

from qdrank.datasets.columns import reference_column
from qdrank.datasets.judged import load_judged
from qdrank.evaluation.measuring import scores_table
from qdrank.queries.artifacts import load_queries
from qdrank.queries.recipe import load_document_vectors
from qdrank.rankers.documents import fold_documents
from qdrank.serving.served import ServedRanker, write_ranker
from qdrank.store import write
from qdrank.studies.beyond.checks import checks_table, recurrence_table, values_table, without_near
from qdrank.studies.beyond.fold import Ladder, control_values, fold_data, method_scores, setting_choices
from qdrank.studies.beyond.methods import CHOSEN
from qdrank.studies.beyond.options import Options
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, out, params, fold = snakemake.input, snakemake.output, snakemake.params, snakemake.wildcards.fold
    judged, reference = load_judged(files.judged), reference_column(files.columns)
    documents = fold_documents(judged, fold, params.scale)
    data = fold_data(documents, load_queries(files.queries), reference)
    ladder = Ladder(data, Options(**params.beyond), log.info).climb()
    test = documents.parts["test"]
    for method, scores in method_scores(ladder, params.methods).items():
        write(out[method], "scores", scores_table(test, scores))
    write(out.choices, "choices", setting_choices(fold, ladder))
    tables = [values_table(fold, test.query_id, control_values(ladder), 0.0)]
    for near in ladder.options.near:
        log.info("without queries of similarity %g or more", near)
        tables.append(values_table(fold, test.query_id, without_near(ladder, near), near))
    write(out.controls, "figure", pa.concat_tables(tables))
    write(out.checks, "figure", checks_table(fold, ladder))
    write(out.recurrence, "figure", recurrence_table(fold, ladder))
    view = documents.view()
    queries = load_document_vectors(files, params.queries, missing=view.missing)
    for method in params.methods:
        ranker = ladder.rankers[ladder.chosen() if method == CHOSEN else method]
        served = ServedRanker(method=method, fold=fold, documents=view, queries=queries, ranker=ranker)
        write_ranker(out[f"served_{method}"], served)
