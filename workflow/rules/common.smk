# What every stage uses: the run (configuration, data sets, methods), names of files, resources. No rules: all of it is in qdrank.workflow.
# Nothing heavy is imported here: every job of a cluster parses these files again.

import atexit
import sys
from importlib.util import find_spec
from pathlib import Path

# In a checkout the library is beside the workflow. Else, as in a module that Snakemake reads from GitHub, it is the installed one.
# Not workflow.basedir: where this is used as a module of another workflow, that is the other one's folder.
_source = Path(str(workflow.current_basedir)).parents[1] / "src"
if workflow.current_basedir.is_local and _source.is_dir():
    sys.path.insert(0, str(_source))
elif find_spec("qdrank") is None:
    raise WorkflowError(
        "This workflow needs its library: pip install 'qdrank[workflow]'"
    )
from qdrank.measures import CONVENTIONS
from qdrank.project import PROJECT, SOURCE
from qdrank.studies import timed_outputs
from qdrank.workflow.complete import complete
from qdrank.workflow.emitting import emitted, say, scattered
from qdrank.workflow.files import (
    CLAIMS,
    Files,
    all_forms_of_table,
    filled,
    passing_outputs,
    query_files,
    reported,
    rule_name,
    table_outputs,
)
from qdrank.workflow.described import (
    claim_titles,
    described_datasets,
    described_run,
    labels_and_colours,
    pictured,
    pictured_texts,
    published_counts,
    representatives,
)
from qdrank.workflow.provenance import asset_digest
from qdrank.workflow.recorded import where_to_look
from qdrank.workflow.resources import memory, minutes, reading_threads
from qdrank.workflow.run import (
    ALL_STUDIES,
    names_pattern,
)
from qdrank.workflow.start import last_words, on_start, start

run = start(workflow, config)
files, settings, planned = Files(run), run.settings, run.planned


onstart:
    on_start(workflow, run)


wildcard_constraints:
    dataset=names_pattern(planned.datasets),
    fold=r"fold[1-5]",
