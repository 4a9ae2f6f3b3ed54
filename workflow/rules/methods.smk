# Which methods are run on which data sets, and what they are measured by. No rules: the stages ask here.

from functools import cache

from qdrank.measures import CONVENTIONS, MEASURES
from qdrank.measures.names import parse as parse_measure
from qdrank.rankers.methods import METHODS


def learners_of(dataset):
    """Methods of this stage that are run on a data set: aggregators on rankings, learners on features."""
    wanted, chosen = settings.learners.datasets, settings.learners.methods
    if dataset not in study.datasets or (wanted is not None and dataset not in wanted):
        return []
    aggregates = study.datasets[dataset].kind == "agg"
    names = METHODS if chosen is None else chosen
    return [name for name in names if METHODS[name].aggregates == aggregates]


LEARNER_DATASETS = [name for name in study.datasets if learners_of(name)]
PUBLISHED_DATASETS = [
    name
    for name in LEARNER_DATASETS
    if (PROJECT / "resources" / "expected" / f"{name}.yaml").exists()
]


def learner_convention(dataset):
    """Convention of the learners' tables of a data set."""
    return settings.learners.conventions.get(
        dataset, settings.evaluation.conventions[0]
    )


def learner_grid(method):
    """Values to try for each parameter of a method."""
    return METHODS[method].grid(settings.learners.grids.get(method))


@cache
def learner_code(method):
    """Digest of one method's code: its own module, and the measures that it is tuned by or optimises."""
    tried = [value for values in learner_grid(method).values() for value in values]
    named = [value for value in tried if isinstance(value, str) and "@" in value]
    measured = {
        measure_module(name) for name in ["ap", settings.learners.measure, *named]
    }
    return code("learn_method", METHODS[method].module, *measured)


def learner_files(wildcards):
    """What a method learns from."""
    method, folder = METHODS[wildcards.method], f"results/{wildcards.dataset}"
    files = {"judged": f"{folder}/{'ranks' if method.aggregates else 'judged'}.parquet"}
    if method.query_vectors:
        files["queries"] = f"{folder}/{wildcards.fold}/queries.parquet"
    return files


def methods_of(dataset):
    """Methods that are run on a data set."""
    geng = GENG_METHODS if dataset in GENG_DATASETS else []
    return ["reference", *geng, *learners_of(dataset)]


MEASURE_NAMES = list(
    dict.fromkeys(
        name
        for convention in [
            *settings.evaluation.conventions,
            *map(learner_convention, LEARNER_DATASETS),
        ]
        for name in CONVENTIONS[convention]
    )
)


def measure_module(name):
    """Module in which a measure is defined."""
    return MEASURES.module(parse_measure(name).definition)


MEASURE_MODULES = sorted(set(map(measure_module, MEASURE_NAMES)))


def each_geng(pattern):
    """Paths of ``pattern`` for every data set of this study."""
    return expand(pattern, dataset=GENG_DATASETS)


def claim_groups():
    """Data sets judged together by name: seeds of one simulated set are one, all others stand alone."""
    groups = {}
    for name in GENG_DATASETS:
        dataset = study.datasets[name]
        options = {
            k: v for k, v in dataset.options.items() if k not in ("seed", "like")
        }
        alike = dataset.kind == "simulated"
        key = (dataset.options.get("like", name), str(options)) if alike else name
        groups.setdefault(key, []).append(name)
    return {members[0]: members for members in groups.values()}
