"""What the study computes: the ladder of rankers with its controls, and retrieval with past queries."""

from __future__ import annotations

from typing import Any

from qdrank.studies.beyond.methods import run as methods_run
from qdrank.studies.beyond.retrieved import JOBS, MEASURES, jobs_of
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


def _retrieve(name: str, says: str, jobs: list[str], chosen: dict[str, str]) -> Step:
    return Step(
        name=name,
        says=says,
        call=f"{_ROOM}.retrieval:write_retrieval",
        reads={"collection": lambda files: files.searched, **chosen},
        makes={
            "values": "{fold}/beyond/retrieval/{job}.parquet",
            "choices": "{fold}/beyond/retrieval/{job}.choices.parquet",
        },
        params=_retrieved,
        wildcards={"job": jobs},
        datasets=lambda run, names: filter(run.is_searched, names),
        memory=(2500, 15),
        minutes=(60, 1),
        together="small",
    )


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
    _retrieve(
        "retrieve_beyond",
        "Retrieval from a whole text collection with past queries, and its baselines, in one form of the judgments.",
        [job for job in JOBS if job == JOBS[job]],
        {},
    ),
    *(
        _retrieve(
            f"retrieve_beyond_{form.replace('-', '_')}_others",
            "Its random controls, and learners, with the settings of the mixes in the same form of the judgments.",
            [job for job in jobs_of(form) if job != form],
            {"chosen": f"{{fold}}/beyond/retrieval/{form}.choices.parquet"},
        )
        for form in dict.fromkeys(JOBS.values())
        if len(jobs_of(form)) > 1
    ),
)
