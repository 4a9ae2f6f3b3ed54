"""The global Ranking SVM of the study of Lin 2011 on a fold, its lambda chosen on validation."""

from qdrank.rankers.documents import load_fold
from qdrank.store import write
from qdrank.studies.lin2011.options import Grid
from qdrank.studies.lin2011.singles import choose_single, singles_table
from qdrank.studies.lin2011.sweep import budget_lambdas
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    params, fold = snakemake.params, snakemake.wildcards.fold
    grid = Grid(**params.grid)
    documents = load_fold(snakemake.input.judged, fold, params.scale)
    lambdas = budget_lambdas(grid.lambdas, grid.budget)
    singles, choices = choose_single(fold, documents, lambdas, tol=params.tol, seed=params.seed)
    log.info("lambda %g, chosen among %d", singles.chosen, len(lambdas))
    write(snakemake.output.models, "models", singles_table(singles, documents))
    write(snakemake.output.choices, "choices", choices)
