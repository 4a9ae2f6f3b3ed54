"""What the curves and the oracle of the study show: groups of queries, methods, and the forms of noise.

They stand apart from the kernels, which a job that only draws does not need.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from qdrank.studies.hybrid.methods import FIXED

#: The most runs whose weights are drawn, and the groups of queries by the run's margin.
MOST_RUNS = 4
GROUPS = ("low", "middle", "high")
#: Methods of the learning curve.
LEARNED = (FIXED, "hybrid-neighbours", "hybrid-ridge")


#: The oracle, as it is called.
ORACLE = "oracle over the weights"


class Form(NamedTuple):
    """How noise rankings are made: form of the noise, distance that is matched, factor on the matched size."""

    noise: Literal["runs", "jitter", "shuffled"]
    distance: Literal["overlap by rank", "first ten"]
    factor: float

    @property
    def text(self) -> str:
        """What its oracle is called."""
        times = "" if self.factor == 1 else f", times {self.factor:g}"
        return f"noise: {self.noise}, {self.distance}{times}"


DECLARED = Form("runs", "overlap by rank", 1.0)
SENSITIVITY = (
    Form("runs", "first ten", 1.0),
    Form("jitter", "overlap by rank", 1.0),
    Form("shuffled", "overlap by rank", 1.0),
    Form("runs", "overlap by rank", 0.5),
    Form("runs", "overlap by rank", 2.0),
)
