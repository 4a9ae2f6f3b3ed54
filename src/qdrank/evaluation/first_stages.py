"""The job that retrieves for a fold of a text set, from the collection to the scores of the first stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from qdrank.datasets.judged import load_roles, scores_table
from qdrank.rankers.first_stage import first_stages
from qdrank.store import write
from qdrank.text.extract import read_collection, text_settings


def write_first_stages(
    files: Mapping[str, str],
    out: Mapping[str, str],
    fold: str,
    *,
    options: Mapping[str, Any],
    settings: Mapping[str, Any],
    measure: str,
    seed: int,
    log: Callable[..., object] = lambda *_: None,
) -> None:
    """Write scores of the test queries by method, and the choices, to the paths in ``out``.

    Parameters
    ----------
    files : has the artifact ``judged`` of the collection
    options, settings : the collection, and the section ``text`` of the configuration (`qdrank.text.extract`)
    measure, seed : as for every choice, see `qdrank.learners.choose`
    """
    collection, text = read_collection(**options), text_settings(settings, seed)
    parts = load_roles(files["judged"], fold, ["vali", "test"], ["doc_id"])
    grid = {"bm25": {"k1": settings["tried_k1"], "b": settings["tried_b"]}, "feedback": settings["feedback"]}
    stages = first_stages(collection, text, parts, fold, grid=grid, measure=measure, seed=seed)
    write(out["choices"], "choices", stages.choices)
    for row in stages.choices.to_pylist():
        log("%s, %s: %s %.4f%s", row["method"], row["setting"], row["measure"], row["value"], " chosen" * row["chosen"])
    for name, (documents, scores) in stages.runs.items():
        write(out[name], "scores", scores_table(documents, scores))
