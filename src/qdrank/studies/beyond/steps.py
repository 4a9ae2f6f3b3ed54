"""Steps of the ladder of rankers: what is tuned together, what a step begins with, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from qdrank.studies.beyond.methods import CONTROLS, FIXED, GATED, SINGLE, TREES

#: Steps of the ladder, in the order climbed, each with the methods that it tunes; controls follow their methods, or are
#: a step of their own where both grow many trees, as are their further fits and those without near-duplicates. Each step
#: may be a job of its own.
STEPS: dict[str, tuple[str, ...]] = {
    "linear": (SINGLE, "beyond-bilinear", "beyond-evidence"),
    "trees": (TREES,),
    "local": ("beyond-knn", "beyond-proximal", "beyond-kernel"),
    "trees_queries": ("beyond-trees-queries",),
    "trees_queries_control": (),
    "trees_queries_control_fits": (),
    "trees_evidence": ("beyond-trees-evidence",),
    "trees_evidence_near": (),
    "trees_evidence_control": (),
    "trees_evidence_control_fits": (),
    "mixtures": (FIXED, GATED),
}
#: Methods of other steps that a step begins with.
NEEDED = {"local": (SINGLE,), "trees_evidence_near": STEPS["trees_evidence"], "mixtures": (SINGLE, TREES)}
#: Methods whose further fits a step makes, since they stand on the same trees. Others with trees are fitted again from
#: their stored form.
REFITTED = {"mixtures": (TREES, *STEPS["mixtures"])}
#: Methods and controls that a step also fits without near-duplicate queries.
WITHOUT_NEAR = {
    "linear": ("beyond-evidence", CONTROLS["beyond-evidence"]),
    "trees_evidence_near": STEPS["trees_evidence"],
    "trees_evidence_control": (CONTROLS["beyond-trees-evidence"],),
}
#: Controls whose fits are a step of their own, by their methods: the step that tunes, the step that fits, and whose
#: vectors the control sees.
FITTED_APART = {
    "beyond-trees-queries": ("trees_queries_control", "trees_queries_control_fits", "others"),
    "beyond-trees-evidence": ("trees_evidence_control", "trees_evidence_control_fits", "own"),
}
#: The step that also has the checks and the recurrence of documents.
CHECKING = "linear"


def methods_tuned(steps: Iterable[str]) -> list[str]:
    """Methods that some steps tune."""
    return [name for step in steps for name in STEPS[step]]


def methods_refitted(steps: Iterable[str]) -> list[str]:
    """Methods that some steps fit several times."""
    return [name for step in steps for name in REFITTED.get(step, ())]


def fitted_without_near(steps: Iterable[str]) -> list[str]:
    """Methods and controls that some steps also fit without near-duplicate queries."""
    return [name for step in steps for name in WITHOUT_NEAR.get(step, ())]


def methods_needed(steps: Sequence[str]) -> list[str]:
    """Methods that some steps begin with and do not tune themselves."""
    tuned = methods_tuned(steps)
    return list(dict.fromkeys(name for step in steps for name in NEEDED.get(step, ()) if name not in tuned))


def controls_stored(steps: Sequence[str]) -> list[str]:
    """Methods whose controls are tuned by some steps and fitted by another job."""
    return [method for method, (tunes, fits, _) in FITTED_APART.items() if tunes in steps and fits not in steps]


def controls_taken(steps: Sequence[str]) -> list[str]:
    """Methods whose controls are fitted by some steps and tuned by another job."""
    return [method for method, (tunes, fits, _) in FITTED_APART.items() if fits in steps and tunes not in steps]


def control_files(methods: Iterable[str]) -> dict[str, str]:
    """Tuned controls of some methods, from the job that tunes to the job that fits."""
    return {f"control_{method}": f"results/{{dataset}}/{{fold}}/beyond/control/{method}.parquet" for method in methods}


def step_tables(
    name: str, folds: Sequence[str], jobs: Mapping[str, tuple[Any, Sequence[str]]]
) -> Callable[[Any], list[str]]:
    """Files of a table, "choices" or "controls", of all steps, as the input of a job that gathers ``folds``.

    ``folds`` are those of a job; ``{fold}`` is the wildcard. ``jobs`` are the rules of the steps, with their data sets.
    """

    def paths(wildcards: Any) -> list[str]:
        folders = (f"results/{wildcards.dataset}/{fold.format(**wildcards)}/beyond" for fold in folds)
        made = [job for job, (_, datasets) in jobs.items() if wildcards.dataset in datasets]
        return [f"{folder}/{job}/{name}.parquet" for folder in folders for job in made]

    return paths
