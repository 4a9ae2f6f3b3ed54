"""What a sample must have before its interval is believed: enough queries, and enough of them that differ.

Student's interval, and every bootstrap, only knows what was drawn. Where few queries carry the whole difference it is too
short. Two numbers guard against that; both were fixed from simulations (tests/evaluation/test_error_rates.py) before any
claim was decided by them.

**Enough queries.** A kind of query that makes up the share q of all is absent from n of them with probability (1 - q)^n, and
then nothing in the sample tells of it. With q = `Rules.rare` this must be at most half the level of the interval:
n >= log(level / 2) / log(1 - q).

**Enough that differ.** With d the distances from the median, (sum |d|)^2 / sum d^2 is their effective number: k where k
queries differ by the same amount and all others do not, 0.64 n for normal values, 0 if all values are equal. It must be
`Rules.differing`. It counts values of any unit (differences, shares, ratios), and is not fooled by a hair of noise on
queries that hardly differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qdrank.evaluation.declared import Rules
from qdrank.layout import FloatArray


def effective_number(values: FloatArray) -> float:
    """Effective number of ``values`` (n,) that differ from the others: 0 if all are equal, 0.64 n if they are normal."""
    distance = np.abs(values - np.median(values)) if len(values) else values
    squares = float((distance**2).sum())
    return float(distance.sum()) ** 2 / squares if squares > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Sample:
    """The values behind an estimate of the form sum of weight times mean of stratum.

    Attributes
    ----------
    strata : weight and values, (n_queries,), of each: one for a data set, one for every seed of a simulated world
    differing : effective number of queries that differ
    resampled : whether the queries are the units, so that the bootstrap draws them
    """

    strata: tuple[tuple[float, FloatArray], ...]
    differing: float
    resampled: bool = True

    @classmethod
    def of(cls, values: FloatArray) -> Sample:
        """The queries of one data set."""
        return cls(((1.0, values),), effective_number(values))

    @property
    def queries(self) -> int:
        """Queries of the smallest set that is compared, all strata of a set together."""
        sides = [sum(len(x) for w, x in self.strata if (w > 0) == side) for side in (True, False)]
        return min(n for n in sides if n) if any(sides) else 0

    def minus(self, other: Sample) -> Sample:
        """The sample of a difference of two independent means; the weaker of the two decides."""
        strata = self.strata + tuple((-w, x) for w, x in other.strata)
        return Sample(strata, min(self.differing, other.differing), self.resampled and other.resampled)

    def lacks(self, level: float, rules: Rules) -> str:
        """What is missing for an interval at ``level``, in words; empty if nothing is."""
        needed = rules.needed(level)
        if self.queries < needed:
            return f"too few queries: {self.queries}, and {needed} are needed at this level"
        if self.differing == 0:
            return f"no spread: all {self.queries} values are equal"
        if self.differing < rules.differing:
            carry = int(self.differing + 1e-9)
            return (
                f"too few queries differ: about {carry} of {self.queries} carry the result, and {rules.differing} must"
            )
        return ""


def lacking(values: FloatArray, level: float = 0.05, rules: Rules | None = None) -> str:
    """Why ``values`` (n_queries,) can have no interval of their mean at ``level``, in words; empty if they can."""
    return Sample.of(np.asarray(values, dtype=np.float64)).lacks(level, rules or Rules())
