# What every stage uses: the checked configuration, the data sets planned from it, and the digest of the code of a rule.
# Nothing heavy is imported here: every job of a cluster parses these files again.

import atexit
import gc
import math
import os
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

# Not workflow.basedir: where this is used as a module of another workflow, that is the other one's folder.
PROJECT = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(PROJECT / "src"))
from qdrank.config_files import load_sources, resolve
from qdrank.errors import QdrankError
from qdrank.jobs import prepare_environment
from qdrank.plan import plan, shards_of
from qdrank.provenance import asset_digest, code_digest
from qdrank.recorded import refuse_other_configuration, started_in, where_to_look

prepare_environment(PROJECT / "src")
# A large graph of jobs is all living objects: looking for garbage among them took a sixth of the time of planning.
gc.set_threshold(50_000, 20, 100)

# Snakemake would wait for a core for ever.
if workflow.resource_settings.cores == 0:
    raise WorkflowError(
        "--cores 0 leaves no core to run on; use --cores all, or the number of cores"
    )

# The default first: what a later file sets overrides it.
_DEFAULT = PROJECT / "config" / "config.yaml"
_given = [file for file in map(Path, workflow.configfiles) if file != _DEFAULT]
CONFIG_FILES = [os.path.relpath(file) for file in _given]
# Snakemake is in the folder of the run by now; commands that are printed are typed where this one was.
STARTED_IN = started_in(workflow.overwrite_workdir)
try:
    settings = resolve(config, load_sources([_DEFAULT, *_given]))
    # A relative path of the user's own data is looked for here, beside the configuration file, and in the project.
    planned = plan(settings, [*(file.parent for file in _given), PROJECT])
except QdrankError as error:
    raise WorkflowError(str(error)) from None


def guard_summary():
    """Stop a run that would overwrite the summary of another configuration."""
    summary = {
        "judge_claims",
        "write_config",
        "write_index",
        "write_overview",
        "write_manifest",
    }
    if summary & {job.rule.name for job in workflow.dag.needrun_jobs()}:
        try:
            refuse_other_configuration("results", CONFIG_FILES, STARTED_IN)
        except QdrankError as error:
            raise WorkflowError(str(error)) from None


# A shard is a part of the work of a fold; jobs of a cluster, and of a core, read the number from the command line.
_RECORDED_SHARDS = Path(".snakemake", "shards")
_resources = workflow.resource_settings
SHARDS = shards_of(
    settings, planned, _resources.cores or _resources.nodes or 1, _RECORDED_SHARDS
)


def scattered(name):
    """Number of shards of a process, which jobs are told too; ``--set-scatter`` wins."""
    _resources.overwrite_scatter = {name: SHARDS, **_resources.overwrite_scatter}
    return SHARDS


def record_shards():
    """Keep the number for later runs in this folder."""
    _RECORDED_SHARDS.parent.mkdir(exist_ok=True)
    _RECORDED_SHARDS.write_text(f"{SHARDS}\n")


onstart:
    guard_summary()
    record_shards()


TRAINING = settings.training.model_dump(include={"scale", "tol"})
INTERVAL = {
    "level": settings.evaluation.confidence,
    "resamples": settings.evaluation.resamples,
    "seed": settings.seed,
}


def code(script, *modules):
    """Digest of the code behind a rule: its script, what that imports, and modules found by name."""
    return code_digest(PROJECT / "scripts" / f"{script}.py", modules)


def input_mb(input):
    """Size of all input files in MB."""
    # Not input.size_mb: that starts an event loop of its own for every job, which tells in a large study.
    return sum(os.path.getsize(file) for file in input) / 2**20


def memory(base, per_input_mb):
    """Memory in MB that grows with the size of the input and with every retry."""

    def mem_mb(wildcards, input, attempt):
        return int(attempt * (base + per_input_mb * max(input_mb(input), 1)))

    return mem_mb


def minutes(base, per_input_mb=0):
    """Time limit in minutes that grows with the size of the input and with every retry."""

    def runtime(wildcards, input, attempt):
        grown = per_input_mb * input_mb(input) if per_input_mb else 0
        return math.ceil(attempt * (base + grown))

    return runtime


# Threads that draw or read large text: all jobs of the data set wait for it.
TEXT_THREADS = 4


def reading_threads(wildcards, input):
    """Threads that read text: several where one takes more than a few seconds."""
    # Snakemake wants a number also for files that are still to be fetched; those are small.
    there = [file for file in input if os.path.exists(file)]
    return TEXT_THREADS if input_mb(there) > 300 else 1


def names_pattern(names):
    """Wildcard constraint that admits these data sets alone."""
    return "|".join(map(re.escape, names)) or "(?!)"


def each_fold(pattern, **wildcards):
    """Paths of ``pattern`` for every fold of every data set, or of the data set given."""

    def paths(given):
        return expand(
            pattern,
            dataset=given.dataset,
            fold=planned.datasets[given.dataset].folds,
            **wildcards,
        )

    return paths


def each_dataset(pattern, **wildcards):
    """Paths of ``pattern`` for every data set of the study."""
    return expand(pattern, dataset=planned.datasets, **wildcards)


def each_dataset_and_fold(patterns, names=None):
    """Paths of ``patterns`` for every fold of every data set, or of those named."""
    return [
        pattern.format(dataset=name, fold=fold)
        for pattern in patterns
        for name in (planned.datasets if names is None else names)
        for fold in planned.datasets[name].folds
    ]


TABLE_FORMS = ("parquet", "csv", "md", "tex")


def table_files(id):
    """Files of a table: the numbers first, then its forms, less the one that goes into the report."""
    return {form: f"results/{{dataset}}/tables/{id}.{form}" for form in TABLE_FORMS}


def all_forms_of_table(id, datasets):
    """Every file of a table, asked for by name, so that a deleted one is made again."""
    path = f"results/{{dataset}}/tables/{id}.{{form}}"
    return expand(path, dataset=datasets, form=[*TABLE_FORMS, "html"])


def all_forms_of_figure(id, datasets):
    """Every file of a figure, asked for by name, so that a deleted one is made again."""
    path = f"results/{{dataset}}/figures/{id}.{{form}}"
    # The svg is always made: it goes into the report.
    forms = dict.fromkeys(["parquet", "svg", *settings.figures.formats])
    return expand(path, dataset=datasets, form=forms)


def figure_files(id):
    """Files of a figure: the numbers behind it and the pictures, without the svg for the report."""
    forms = ["parquet", *(form for form in settings.figures.formats if form != "svg")]
    return {form: f"results/{{dataset}}/figures/{id}.{form}" for form in forms}


def reported(folder, id, path, category, what):
    """A file that goes into the report, under ``category`` and the data set; its caption lies in ``folder``."""
    return report(
        path,
        category=category,
        subcategory="{dataset}",
        caption=f"../report/{folder}{id}.rst",
        labels={"what": what},
    )


def reported_figure(study, id, what):
    """Files of a figure of a study; the svg goes into the report."""
    return figure_outputs(f"{study.name}/", id, study.paper, what)


def figure_outputs(folder, id, category, what):
    """Files of any figure; the svg goes into the report."""
    path = f"results/{{dataset}}/figures/{id}.svg"
    return {**figure_files(id), "svg": reported(folder, id, path, category, what)}


def reported_table(study, id, what, prefix=""):
    """Files of a table of a study, their names in a rule beginning with ``prefix``; the html goes into the report."""
    return table_outputs(f"{study.name}/", id, study.paper, what, prefix)


def table_outputs(folder, id, category, what, prefix=""):
    """Files of any table; the html goes into the report."""
    path = f"results/{{dataset}}/tables/{id}.html"
    files = {**table_files(id), "html": reported(folder, id, path, category, what)}
    return {f"{prefix}{form}": path for form, path in files.items()}


def reported_tables(study, output):
    """Files of all tables that one job makes, named by place in the list and form."""
    return {
        name: path
        for place, (id, what) in enumerate(output.shows.items())
        for name, path in reported_table(study, id, what, f"t{place}_").items()
    }


def first_fold(pattern):
    """Path of ``pattern`` for the first fold of a data set."""
    return lambda wc: expand(
        pattern, dataset=wc.dataset, fold=planned.datasets[wc.dataset].folds[0]
    )


def dataset_title(wildcards):
    """What the data set is called."""
    return planned.datasets[wildcards.dataset].title


def folds_of(wildcards):
    """Folds of a data set."""
    return list(planned.datasets[wildcards.dataset].folds)


def feature_files(wildcards):
    """Files that hold the features: the list of what was fetched, or the user's own."""
    dataset = planned.datasets[wildcards.dataset]
    if dataset.registered:
        return f"resources/downloads/{dataset.name}.json"
    return list(dataset.files.values())


def collection_files(wildcards):
    """Files of a text collection: the list of what was fetched, or all files in the user's folder."""
    dataset = planned.datasets[wildcards.dataset]
    if dataset.registered:
        return f"resources/downloads/{dataset.name}.json"
    if dataset.files:
        return list(dataset.files.values())
    return sorted(
        str(path)
        for path in Path(dataset.options["folder"]).rglob("*")
        if path.is_file()
    )


wildcard_constraints:
    dataset=names_pattern(planned.datasets),
    fold=r"fold[1-5]",
