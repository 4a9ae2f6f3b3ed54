"""A fitted learner as it comes back from its file."""

from typing import Any

from qdrank.rankers.served import kind_of
from qdrank.rankers.stored import from_state_table, state_table


def stored(learner: Any) -> Any:
    """The learner, written as plain values and read again."""
    return from_state_table(state_table(learner), kind_of)
