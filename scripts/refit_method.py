"""Further fits of a method that draws at random: its settings as chosen, other seeds, scores of the test documents."""

from qdrank.datasets.judged import load_roles
from qdrank.evaluation.measuring import refits_table
from qdrank.evaluation.refits import fit_seed
from qdrank.rankers.state import from_state_table
from qdrank.registry import loaded
from qdrank.serving.refitting import refit_scores
from qdrank.serving.served import ServedRanker
from qdrank.store import read, write
from qdrank.workflow.script import job, snakemake

with job(snakemake):
    files, params, fold = snakemake.input, snakemake.params, snakemake.wildcards.fold
    kinds = {name: loaded(target) for name, target in params.kinds.items()} | {ServedRanker.NAME: ServedRanker}
    parts = load_roles(files.judged, fold, columns=["doc_id", "features"])
    seeds = [fit_seed(params.seed, fit) for fit in range(1, params.refits)]
    served = from_state_table(read(files.served, "rankers"), kinds.__getitem__)
    scores = refit_scores(served, parts, read(files.topics, "topics"), seeds)
    write(snakemake.output[0], "refits", refits_table(parts["test"], scores))
