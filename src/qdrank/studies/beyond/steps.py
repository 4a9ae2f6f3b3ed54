"""What the study computes: the ladder of rankers with its controls, and retrieval with past queries."""

from __future__ import annotations

from typing import Any

from qdrank.studies.beyond.methods import run as methods_run
from qdrank.studies.beyond.retrieved import FORMS, MEASURES
from qdrank.studies.steps import QUERY_FILES, Step, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.beyond"


def _options(run: Any) -> dict[str, Any]:
    training = run.settings.training
    shared = {"rounds": training.trees, "tol": training.tol, "seed": run.settings.seed}
    return {**run.settings.beyond.solved(), **shared}


def _fitted(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "scale": settings.training.scale,
        "queries": run.query_options,
        "refits": settings.refits,
        "source": lambda wildcards: run.text_source(wildcards.dataset),
        "text": settings.text.model_dump(),
        "beyond": _options(run),
    }


def _retrieved(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "source": lambda wildcards: run.searched(wildcards.dataset),
        "text": lambda wildcards: run.searched_text(wildcards.dataset),
        "retrieval": settings.beyond.retrieval(),
        "beyond": _options(run),
        "refits": settings.refits,
        "measure": settings.learners.measure,
        "measures": list(MEASURES),
    }


STEPS = (
    Step(
        name="fit_beyond",
        says="Rankers and controls of a fold, tuned on validation, with their scores of the test documents, and checks.",
        call=f"{_ROOM}.fold:fit_fold",
        reads={**QUERY_FILES, "judged": "judged.parquet", "collection": lambda files: files.collection_of_text},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run)),
            **further_fits(run.refitted(methods_run(run))),
            "choices": "{fold}/choices/beyond.parquet",
            **{name: f"{{fold}}/beyond/{name}.parquet" for name in ("values", "checks", "recurrence")},
        },
        params=_fitted,
        memory=(700, 14),
        minutes=(120, 3),
        threads=lambda run: run.tree_threads,
    ),
    Step(
        name="retrieve_beyond",
        says="Retrieval from a whole text collection with past queries, in one form of the judgments, with its controls and learners.",
        call=f"{_ROOM}.retrieval:write_retrieval",
        reads={"collection": lambda files: files.searched},
        makes={
            "values": "{fold}/beyond/retrieval/{form}.parquet",
            "choices": "{fold}/beyond/retrieval/{form}.choices.parquet",
        },
        params=_retrieved,
        wildcards={"form": list(FORMS)},
        datasets=lambda run, names: filter(run.is_searched, names),
        memory=(2500, 15),
        minutes=(60, 1),
        threads=lambda run: run.tree_threads,
        together="small",
    ),
)
