"""What a study ranked, as files that every tool of the field reads: a run for each method, and the judgments.

Beside each run is a block of metadata after the schema of ir_metadata (Breuer et al. 2022). It is a file of its own, because
trec_eval stops at a comment in a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from qdrank.datasets.judged import Judged, load_roles
from qdrank.datasets.runs.writing import distinct_scores, write_qrels, write_run
from qdrank.evaluation.measuring import document_ids, joined_scores, retrieved_scores
from qdrank.layout import FloatArray
from qdrank.rankers.stages import REFERENCE, RETRIEVERS
from qdrank.store.atomic import write_text
from qdrank.store.manifest import machine_record

_TIES = "no ties: scores in single precision that differ, tied documents in the order in which the study ranked them"


def write_runs(
    files: Mapping[str, Any],
    path: str | Path,
    fold: str,
    *,
    dataset: str,
    title: str,
    methods: Sequence[str],
    measures: Sequence[str],
) -> None:
    """Write the runs of a fold's test queries, their metadata, and the judgments.

    Parameters
    ----------
    files : ``judged``, and ``scores``: one file for each method
    path : folder that gets ``judgments.qrels.gz``, and for each method ``METHOD.run.gz`` and ``METHOD.ir-metadata.yml``
    dataset, title : name of the data set, and how it is called
    measures : names of the measures that the run reports
    """
    folder = Path(path)
    folder.mkdir(exist_ok=True)
    qrels = folder / "judgments.qrels.gz"
    test = load_roles(files["judged"], fold, ["test"], ["doc_id"])["test"]
    ids = document_ids(test)
    _write_judgments(qrels, test)
    for method, path in zip(methods, files["scores"], strict=True):
        ranked, scores = retrieved_scores(test, path) if method in RETRIEVERS else (test, joined_scores(ids, path))
        write_scored(folder / f"{method}.run.gz", ranked, scores, tag=method)
        described = metadata(method, dataset=dataset, title=title, fold=fold, measures=measures)
        described["data"]["test collection"]["qrels"] = qrels.name
        write_text(folder / f"{method}.ir-metadata.yml", yaml.safe_dump(described, sort_keys=False, width=120))


def write_scored(path: str | Path, ranked: Judged, scores: FloatArray, *, tag: str) -> None:
    """Write scored documents, (n_documents,), as a run whose order every tool keeps; without those at minus infinity."""
    listed = scores != -np.inf
    distinct = distinct_scores(scores, ranked.offsets)[listed]
    write_run(path, ranked.query[listed], ranked.doc_id[listed], distinct, tag=tag)


def _write_judgments(path: Path, test: Judged) -> None:
    """Judgments of the documents to rank, and of relevant ones that are not among them."""
    query, doc, grade = [test.query], [test.doc_id], [test.y]
    if test.unranked is not None:
        grades, offsets = test.unranked
        names = np.repeat(test.query_id, np.diff(offsets))
        known = [name for ids in test.missed_id for name in ids] if test.missed_id is not None else None
        # Where only the grades are known: a name that no document has.
        missed = known or [f"MISSED-{name}-{i}" for i, name in enumerate(names.tolist())]
        query, doc, grade = [*query, names], [*doc, np.array(missed, dtype=object)], [*grade, grades]
    write_qrels(path, np.concatenate(query), np.concatenate(doc), np.concatenate(grade))


def metadata(method: str, *, dataset: str, title: str, fold: str, measures: Sequence[str]) -> dict[str, Any]:
    """Metadata of a run after ir_metadata 0.1, without what only the people behind it know.

    The machine is described in ``manifest.json``: metadata of the same run are the same bytes everywhere.
    """
    machine = machine_record()
    libraries = [f"{name}=={version}" for name, version in machine["libraries"].items()]
    step: dict[str, Any] = {"name": method} | ({} if method in (REFERENCE, *RETRIEVERS) else {"reranks": REFERENCE})
    return {
        "schema version": 0.1,
        "tag": method,
        "platform": {"software": {"libraries": {"python": libraries}}},
        "implementation": {"executable": {"cmd": "snakemake runs"}, "source": {"lang": ["python"], "name": "qdrank"}},
        "data": {"test collection": {"name": dataset, "title": title, "fold": fold}},
        "method": {"automatic": True, "score ties": _TIES, "retrieval": [step]},
        "research goal": {"evaluation": {"reported measures": list(measures), "baseline": [REFERENCE]}},
    }
