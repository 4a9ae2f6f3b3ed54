"""The finished study is what it was; and the comparison finds what is not."""

import copy
import json
from collections.abc import Callable

import pandas as pd
import pytest

from tests.golden.__main__ import kept_record, shown
from tests.golden.compare import differences, to_keep
from tests.golden.record import Record, jobs_of, record, table
from tests.workflow.project import Project

PRINTED = """
[Thu Nov 19 03:20:04 2026]
rule describe:
    input: b.txt, a.txt
    output: c.csv, c.md
    log: logs/c.log
[Thu Nov 19 03:20:04 2026]
localrule simulate:
    output: a.txt
    log: logs/a.log
"""


def test_the_finished_study_is_what_it_was(finished: Project) -> None:
    lines = differences(kept_record("tiny"), record("tiny", finished.folder))
    assert not lines, shown(lines)


@pytest.fixture
def made() -> Record:
    frame = pd.DataFrame({"method": ["single", "knn"], "ap": [0.123449, None], "queries": [12, 3000]})
    verdicts = pd.DataFrame({"claim": ["geng: a", "geng: b"], "verdict": ["holds", "cannot tell"]})
    return {
        "tables": {"verdicts": table(verdicts), "table t of tiny": table(frame)},
        "jobs": {"1 and 3 shards": jobs_of(PRINTED)},
        "exact": {"A": {"choice of tiny fold1 knn": "k=3 0.5 of 4", "scores of tiny fold1 knn": "0f"}},
    }


def swap_verdicts(found: Record) -> None:
    found["tables"]["verdicts"][2:] = ["geng: a\tcannot tell", "geng: b\tholds"]


CHANGES: dict[str, tuple[Callable[[Record], object], list[str]]] = {
    "a last digit": (
        lambda found: found["tables"]["table t of tiny"].__setitem__(2, "single\t0.123549\t12"),
        ["table t of tiny: single (1): ap: 0.123549, was 0.1234"],
    ),
    "a missing value": (
        lambda found: found["tables"]["table t of tiny"].__setitem__(3, "knn\t0.0\t3000"),
        ["table t of tiny: knn (1): ap: 0.0, was nothing"],
    ),
    "a row": (
        lambda found: found["tables"]["table t of tiny"].pop(),
        [f"table t of tiny: knn (1): {column}: lost" for column in ("method", "ap", "queries")],
    ),
    "swapped verdicts": (
        swap_verdicts,
        [
            "verdicts: geng: a (1): verdict: cannot tell, was holds",
            "verdicts: geng: b (1): verdict: holds, was cannot tell",
        ],
    ),
    "a job": (
        lambda found: found["jobs"]["1 and 3 shards"].pop("a.txt"),
        ["a.txt with 1 shards: lost", "a.txt with 3 shards: lost"],
    ),
    "a job with three shards": (
        lambda found: found["jobs"].update({"1 shards": found["jobs"].pop("1 and 3 shards")}),
        [f"{output} with 3 shards: lost" for output in ("c.csv", "c.md", "a.txt")],
    ),
    "an input": (
        lambda found: found["jobs"]["1 and 3 shards"]["c.csv c.md"].pop(),
        [f"{output} with {n} shards: no longer reads b.txt" for n in (1, 3) for output in ("c.csv", "c.md")],
    ),
    "a choice": (
        lambda found: found["exact"]["A"].update({"choice of tiny fold1 knn": "k=5 0.5 of 4"}),
        ["choice of tiny fold1 knn: k=5 0.5 of 4, was k=3 0.5 of 4"],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_named(made: Record, change: str) -> None:
    kept = json.loads(json.dumps(to_keep(made, None)))
    assert differences(kept, made) == []
    assert kept["tables"]["table t of tiny"][2:] == ["single\t0.1234\t12", "knn\t\t3000"]
    spoil, said = CHANGES[change]
    spoil(made)
    assert differences(kept, made) == said


def test_choices_and_digests_are_compared_on_their_processor_alone(made: Record) -> None:
    other = copy.deepcopy(made) | {"exact": {"B": {**made["exact"]["A"], "scores of tiny fold1 knn": "1f"}}}
    kept = to_keep(made, None)
    assert differences(kept, other) == []
    kept = to_keep(other, kept)
    assert differences(kept, made) == differences(kept, other) == []
    made["exact"]["A"]["choice of tiny fold1 knn"] = "k=5 0.5 of 4"  # what B had of it is out of date, the rest stands
    assert to_keep(made, kept)["exact"]["B"] == {"scores of tiny fold1 knn": "1f"}
