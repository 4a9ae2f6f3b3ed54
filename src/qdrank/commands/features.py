"""``qdrank features``: features of new text queries over the collection of a study, as LETOR text for ``qdrank rank``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.commands.output import add_output, opened, refuse_unwritable
from qdrank.errors import InputError
from qdrank.jobs import cores
from qdrank.project import PROJECT
from qdrank.workflow.recorded import FILE

if TYPE_CHECKING:
    import pyarrow as pa

    from qdrank.datasets.collections.model import Query
    from qdrank.datasets.judged import Judged
    from qdrank.text.encoding import TextVectors
    from qdrank.workflow.config import Settings


QUERIES = "lines of ID, tab, words; or BEIR's jsonl, TREC topics, SMART records; - for standard input"
PAST = "also take the N best documents by the judged queries that they answered"


#: Keys of a run's configuration that say where its texts are, and how they were read.
_NEEDED = ("datasets", "mirror", "own", "folds", "seed", "text", "encoder", "queries")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--data", required=True, type=Path, metavar="FOLDER", help="a data set's results, e.g. results/mine"
    )
    parser.add_argument("--queries", required=True, type=Path, metavar="FILE", help=QUERIES)
    add_output(parser, "LETOR text, for qdrank rank --input")
    parser.add_argument("--topics", metavar="FILE", help="also write the artifact topics, for qdrank rank --topics")
    parser.add_argument("--past", type=int, default=0, metavar="N", help=PAST)


def run(args: argparse.Namespace) -> int:
    """Compute the features, and say which queries have no document."""
    for path in (args.output, args.topics):
        refuse_unwritable(path)
    judged, topics = features_of(args.data, args.queries, args.past)

    from qdrank.datasets.importing import letor_text
    from qdrank.store import write

    with opened(args.output) as file:
        file.writelines(letor_text(judged))
    if args.topics is not None:
        write(args.topics, "topics", topics)
    return 0


def features_of(data: Path, queries_file: Path, past: int) -> tuple[Judged, pa.Table]:
    """Candidates of the queries of a file, with their features, and the artifact ``topics``; say which queries have none.

    Parameters
    ----------
    data : the results of a data set of text
    past : number of documents that past queries bring, besides the candidates by BM25
    """
    source, settings, encoder = study_of(data)

    from qdrank.datasets.collections.forms import read_collection, read_new_queries
    from qdrank.text.extract import new_query_features, text_settings

    if past < 0:
        raise InputError("the number of documents is below 0", found=str(past), fix="give --past 0 or more")
    queries = read_new_queries(queries_file)
    dense = settings.queries.vectors == "dense"
    vectors = encoded_queries(data, queries, encoder) if dense or "dense" in settings.text.features else None
    text = text_settings(settings.text.model_dump(), settings.seed, query_vectors=dense)
    kept = data / ".index.npz"
    judged, topics = new_query_features(read_collection(**source), queries, text, past, kept, vectors)
    left_out = sorted({query.query_id for query in queries} - set(judged.query_id))
    if left_out:
        print(f"qdrank: left out, because no document has a word of it: {', '.join(left_out)}", file=sys.stderr)
    return judged, topics


def encoded_queries(data: Path, queries: Sequence[Query], encoder: Mapping[str, str]) -> TextVectors:
    """Vectors of a data set's documents, as the run made them, and of new queries."""
    if not encoder:
        fix = "name one in the configuration (encoder: minilm), and run it in another folder"
        raise InputError("the run has no encoder", file=data.parent / FILE, fix=fix)
    from qdrank.text.encoder import Encoder, encoder_form
    from qdrank.text.encoding import load_vectors

    asked = Encoder(encoder_form(**encoder), threads=cores()).encode([query.text for query in queries], "queries")
    names = np.array([query.query_id for query in queries], dtype=object)
    return replace(load_vectors(data / "vectors.parquet"), query_id=names, queries=asked)


def study_of(data: Path) -> tuple[dict[str, Any], Settings, dict[str, str]]:
    """Where the collection behind a data set's results is, the configuration it was made with, and its encoder, if any."""
    results, name = data.parent, data.name
    config = results / FILE
    if not config.is_file():
        fix = (
            "give the folder of a data set of a finished run, such as results/mine; or make the file: snakemake --cores all "
            "results/config.yaml, with the --directory and the --configfile of the run"
        )
        raise InputError("there is no configuration beside the results", file=config, fix=fix)
    from qdrank.workflow.config_files import load_yaml, resolve  # slow to load, and `qdrank rank` seldom needs it
    from qdrank.workflow.plan import plan

    # Another version may have written it: of the studies' sections, nothing is needed.
    values = {key: value for key, value in load_yaml(config).items() if key in _NEEDED}
    settings = resolve(values, [(str(config), values)])
    folders = [results.parent, PROJECT]
    planned = plan(settings.model_copy(update={"datasets": [name]}), folders)
    dataset, encoder = planned.datasets[name], dict(planned.encoder)
    if dataset.kind != "text":
        fix = "compute the features as those of the data were; `qdrank rank` takes them as LETOR text"
        raise InputError(f"{name} is not made of text", found=f"kind {dataset.kind}", fix=fix)
    source = dict(dataset.options)
    if dataset.registered:  # its downloads are in the folder of the run
        source["folder"] = os.path.join(results.parent, source["folder"])
    if planned.encoders:
        encoder["folder"] = os.path.join(results.parent, encoder["folder"])
    return source, settings, encoder
