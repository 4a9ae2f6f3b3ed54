"""A shard of the clusters of a fold and their local models."""

from qdrank.datasets.columns import reference_column
from qdrank.rankers.documents import load_fold
from qdrank.store import read, write
from qdrank.studies.lin2011.options import Readings
from qdrank.studies.lin2011.shapes import CLUSTER_MODELS_SHAPE, CLUSTERS_SHAPE
from qdrank.studies.lin2011.singles import load_singles
from qdrank.studies.lin2011.units import ClusterPlan, Workshop, shard_units
from qdrank.workflow.script import job, snakemake

with job(snakemake) as log:
    files, params = snakemake.input, snakemake.params
    documents = load_fold(files.judged, snakemake.wildcards.fold, params.scale, wanted=["train"])
    singles = load_singles(read(files.singles, "models"), documents)
    plan = ClusterPlan(readings=Readings(**params.readings), **params.plan)
    shard, n_shards = map(int, snakemake.wildcards.scatteritem.split("-of-"))
    workshop = Workshop(
        documents,
        reference_column(files.columns),
        {lam: singles.models[lam] for lam in params.lambdas},
        singles.weights,
        plan,
        tol=params.tol,
    )
    clusters, models = workshop.run(shard_units(plan, shard - 1, n_shards), log.info)
    write(snakemake.output.clusters, CLUSTERS_SHAPE, clusters)
    write(snakemake.output.models, CLUSTER_MODELS_SHAPE, models)
