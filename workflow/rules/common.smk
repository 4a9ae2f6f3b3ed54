# What every stage uses: the run (configuration, data sets, methods), names of files, resources. No rules: all of it is in qdrank.workflow.
# Nothing heavy is imported here: every job of a cluster parses these files again.

import atexit
import sys
from pathlib import Path

# Not workflow.basedir: where this is used as a module of another workflow, that is the other one's folder.
PROJECT = Path(str(workflow.current_basedir)).parents[1]
sys.path.insert(0, str(PROJECT / "src"))
from qdrank.measures import CONVENTIONS
from qdrank.rankers.methods import CLASSIC
from qdrank.studies import STUDIES, timed_outputs
from qdrank.workflow.files import (
    CLAIMS,
    Files,
    all_forms_of_table,
    query_files,
    reported,
    reported_table,
    reported_tables,
    rule_name,
    scores_and_rankers,
    table_outputs,
)
from qdrank.workflow.page import (
    claim_titles,
    described_datasets,
    described_run,
    labels_and_colours,
    representatives,
)
from qdrank.workflow.provenance import asset_digest, code_digest
from qdrank.workflow.recorded import where_to_look
from qdrank.workflow.resources import TEXT_THREADS, memory, minutes, reading_threads
from qdrank.workflow.run import (
    ALL_STUDIES,
    measure_module,
    names_pattern,
    study_measures,
)
from qdrank.workflow.start import on_start, scattered, start

run = start(workflow, config, PROJECT)
files, settings, planned = Files(run), run.settings, run.planned
MEASURE_MODULES = sorted(set(map(measure_module, run.measures)))


def code(script, *modules):
    """Digest of the code behind a rule: its script, what that imports, and modules found by name."""
    return code_digest(PROJECT / "scripts" / f"{script}.py", modules)


def module_of(target):
    """Module of a "module:attribute"."""
    return target.partition(":")[0]


def learner_code(method):
    """Digest of one method's code: its own module, and the measures that it is tuned by or optimises."""
    tried = [value for values in run.learner_grid(method).values() for value in values]
    named = [value for value in tried if isinstance(value, str) and "@" in value]
    measured = {
        measure_module(name) for name in ["ap", settings.learners.measure, *named]
    }
    return code("learn_method", CLASSIC[method].module, *measured)


onstart:
    on_start(workflow, run)


wildcard_constraints:
    dataset=names_pattern(planned.datasets),
    fold=r"fold[1-5]",
