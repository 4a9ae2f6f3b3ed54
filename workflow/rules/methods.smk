# Which methods are run on which data sets, and what they are measured by. No rules: the stages ask here.

from functools import cache

from qdrank.measures import CONVENTIONS, MEASURES
from qdrank.measures.names import parse as parse_measure
from qdrank.rankers.methods import CLASSIC
from qdrank.rankers.sizes import largest_used
from qdrank.studies import STUDIES, timed_outputs


def learners_of(dataset):
    """Methods of this stage that are run on a data set: aggregators on rankings, learners on features."""
    wanted, chosen = settings.learners.datasets, settings.learners.methods
    if dataset not in planned.datasets or (
        wanted is not None and dataset not in wanted
    ):
        return []
    aggregates = planned.datasets[dataset].kind == "agg"
    names = CLASSIC if chosen is None else chosen
    return [name for name in names if CLASSIC[name].aggregates == aggregates]


LEARNER_DATASETS = [name for name in planned.datasets if learners_of(name)]
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
    return CLASSIC[method].grid(settings.learners.grids.get(method))


@cache
def learner_code(method):
    """Digest of one method's code: its own module, and the measures that it is tuned by or optimises."""
    tried = [value for values in learner_grid(method).values() for value in values]
    named = [value for value in tried if isinstance(value, str) and "@" in value]
    measured = {
        measure_module(name) for name in ["ap", settings.learners.measure, *named]
    }
    return code("learn_method", CLASSIC[method].module, *measured)


def tree_threads(query_vectors):
    """Threads of LambdaMART: with query vectors it has twice the features, and would take twice as long as without."""
    threads = settings.training.tree_threads
    return 2 * threads if query_vectors and threads > 1 else threads


def learner_threads(method):
    """Threads of a classic method: only boosted trees use more than one."""
    is_trees = CLASSIC[method].learner == "lambdamart"
    return tree_threads(CLASSIC[method].query_vectors) if is_trees else 1


def learner_files(wildcards):
    """What a method learns from."""
    method, folder = CLASSIC[wildcards.method], f"results/{wildcards.dataset}"
    files = {"judged": f"{folder}/{'ranks' if method.aggregates else 'judged'}.parquet"}
    if method.query_vectors:
        files["queries"] = f"{folder}/{wildcards.fold}/queries.parquet"
    return files


# Verdicts of all studies, whose they are, and the page that shows them: part of the target of each study.
CLAIMS = [
    "results/config.yaml",
    "results/index.html",
    "results/claims.parquet",
    "results/claims.html",
    *expand("results/claims-overview.{form}", form=["html", "csv", "md"]),
]
ALL_STUDIES = [STUDIES[name] for name in STUDIES]


def section(study):
    """Section of the configuration that belongs to a study."""
    return getattr(settings, study.short)


@cache
def datasets_by_study():
    """Data sets that each study is run on; found once, for every job of a large plan asks."""
    found = {}
    for study in ALL_STUDIES:
        wanted = section(study).datasets
        found[study.name] = {
            name: dataset
            for name, dataset in planned.datasets.items()
            if dataset.kind in study.kinds and (wanted is None or name in wanted)
        }
    return found


def datasets_of(study):
    """Data sets that a study is run on."""
    return datasets_by_study()[study.name]


def methods_run(study):
    """Methods of a study that are run."""
    return study.run(section(study))


def methods_of(dataset):
    """Methods that are run on a data set."""
    own = [
        method
        for study in ALL_STUDIES
        if dataset in datasets_of(study)
        for method in methods_run(study)
    ]
    # A study may compare with a classic learner, and so may another.
    return list(dict.fromkeys(["reference", *own, *learners_of(dataset)]))


def baselines_of(study):
    """Classic methods that a study's tables stand beside, of those that are run on a data set, and the reference."""

    def names(wildcards):
        known = learners_of(wildcards.dataset)
        return ["reference", *(n for n in section(study).baselines if n in known)]

    return names


def shown_methods():
    """Label and colour of every method of every study, and labels of the classic methods, which belong to no study."""
    own = [(study, method) for study in ALL_STUDIES for method in study.methods]
    labels = {
        **{
            method.name: f"{method.label} ({study.paper.split()[0]})"
            for study, method in own
        },
        **{name: method.label for name, method in CLASSIC.items()},
        "reference": "reference feature",
    }
    return labels, {method.name: method.colour for _, method in own}


MEASURE_NAMES = list(
    dict.fromkeys(
        name
        for convention in [
            *settings.evaluation.conventions,
            *map(learner_convention, LEARNER_DATASETS),
        ]
        for name in CONVENTIONS[convention]
    )
    | dict.fromkeys(settings.difficulty.measures)
)


def measure_module(name):
    """Module in which a measure is defined."""
    return MEASURES.module(parse_measure(name).definition)


MEASURE_MODULES = sorted(set(map(measure_module, MEASURE_NAMES)))


def study_measures(study):
    """Measures of a study's methods: those it names, and those of the conventions it names."""
    return [
        measure for name in study.measures for measure in CONVENTIONS.get(name, (name,))
    ]


def claim_groups(study):
    """Data sets judged together by name: seeds of one simulated set are one, all others stand alone."""
    groups = {}
    for name in datasets_of(study):
        dataset = planned.datasets[name]
        options = {
            k: v for k, v in dataset.options.items() if k not in ("seed", "like")
        }
        alike = dataset.kind == "simulated"
        key = (dataset.options.get("like", name), str(options)) if alike else name
        groups.setdefault(key, []).append(name)
    return {members[0]: members for members in groups.values()}


# ---- what a study declares, as the rules need it ----


def rule_name(id):
    """An id of a figure or table as a name of a rule."""
    return id.replace("-", "_")


def module_of(target):
    """Module of a "module:attribute"."""
    return target.partition(":")[0]


def study_files(study, output):
    """Files that a figure, table or evidence is made from; those named after a method only if it is run."""
    idle = {method.name for method in study.methods} - {*methods_run(study)}
    return {
        name: study_paths(path)
        for name, path in output.reads.items()
        if name not in idle
    }


def study_paths(path):
    """One path, that of the first fold, or those of all folds."""
    whole = f"results/{{dataset}}/{path}"
    if "{first}" in path:
        return first_fold(whole.replace("{first}", "{fold}"))
    return each_fold(whole) if "{fold}" in path else whole


def shown(output):
    """Params of a job that makes a figure, tables or evidence."""
    return {
        "make": output.make,
        "title": dataset_title,
        "folds": folds_of,
        "interval": INTERVAL,
        "options": {key.rpartition(".")[2]: option(key) for key in output.options},
    }


def option(key):
    """Value of a key of the configuration, such as ``training.tol``."""
    value = settings
    for step in key.split("."):
        value = getattr(value, step)
    return value


def budget(study):
    """Values of the keys that a study's declaration of claims names."""
    pairs = (key.partition(" as ") for key in study.budget)
    return {new or key.rpartition(".")[2]: option(key) for key, _, new in pairs}


def neighbours_used():
    """The largest share and the largest number of neighbours that a study of this run uses."""
    run = (study for study in ALL_STUDIES if datasets_of(study))
    return largest_used(k for study in run for k in study.neighbours(section(study)))


def world(name):
    """What a simulated data set is; empty for real data."""
    dataset = planned.datasets[name]
    return dataset.title if dataset.kind == "simulated" else ""


def world_of(wildcards):
    """What the data set of a job is, if it is simulated."""
    return world(wildcards.dataset)


def output_files(study, id):
    """All files of a figure or table of a study, for all its data sets."""
    is_figure = any(id in figure.shows for figure in study.figures)
    all_forms = all_forms_of_figure if is_figure else all_forms_of_table
    return all_forms(id, datasets_of(study))


def study_outputs(study):
    """Files of every figure and table of a study, its claims included, by id."""
    made = [*study.figures, *study.tables, study.evidence]
    return {id: output_files(study, id) for output in made for id in output.shows}


def whole_study(study):
    """Everything that a study makes."""
    outputs = [path for files in study_outputs(study).values() for path in files]
    return outputs + each_dataset_and_fold(study.also, datasets_of(study))


def study_targets():
    """Files by the name of the target."""
    found = {}
    for study in ALL_STUDIES:
        found |= {rule_name(id): files for id, files in study_outputs(study).items()}
        found |= {
            name: whole_study(study) + CLAIMS for name in (study.name, study.short)
        }
    return found


# ---- what the first page shows ----


def representatives(study=None):
    """Data sets that the page shows, of one study or of all: of the seeds of a simulated world the first."""
    if study is not None:
        return list(claim_groups(study))
    further = {
        name
        for own in ALL_STUDIES
        for members in claim_groups(own).values()
        for name in members[1:]
    }
    return [name for name in planned.datasets if name not in further]


def described_run():
    """The run as the page needs to know it: data sets, studies, methods, and the columns of its matrix."""
    return {
        "datasets": {
            name: {
                "title": dataset.title,
                "kind": dataset.kind,
                "folds": list(dataset.folds),
                "note": dataset.note,
            }
            for name, dataset in planned.datasets.items()
        },
        "left_out": dict(planned.left_out),
        "columns": {
            called: {"name": name, "title": title}
            for study in ALL_STUDIES
            for name, members in claim_groups(study).items()
            for called, title in [called_together(name, members)]
        },
        "methods": {
            **{name: method.label for name, method in CLASSIC.items()},
            "reference": "reference feature",
        },
        "studies": list(map(described_study, ALL_STUDIES)),
    }


def called_together(name, members):
    """How the verdicts on a data set, or on seeds of one, name it, and its title."""
    title = planned.datasets[name].title
    if len(members) == 1:
        return name, title
    return f"{name} ({len(members)} seeds)", f"{title} ({len(members)} seeds)"


def claim_titles():
    """Titles of data sets, and of seeds of one, by the names in the verdicts."""
    return {
        called: title
        for study in ALL_STUDIES
        for called, title in (
            called_together(name, members)
            for name, members in claim_groups(study).items()
        )
    }


def described_study(study):
    """A study as the page needs to know it."""
    return {
        "name": study.name,
        "short": study.short,
        "paper": study.paper,
        "idea": study.idea,
        "against": study.against,
        "methods": {method.name: method.label for method in study.methods},
        "datasets": {
            name: planned.datasets[name].title for name in representatives(study)
        },
        "figures": [
            {
                "id": figure.id,
                "label": figure.shows[figure.id],
                "said": figure.said,
                "claims": list(figure.claims),
            }
            for figure in study.figures
        ],
        "tables": {
            id: label
            for output in (*study.tables, study.evidence)
            for id, label in output.shows.items()
        },
        "claims": study.evidence.id,
        "forms": list(dict.fromkeys(["svg", *settings.figures.formats])),
    }
