"""Claims as a study declares them, before anyone looks at the numbers.

A `Claim` says what is claimed, in which measure, what difference counts (the margin, in the claim's own unit), with which
other claims it is tested together (the family), and what validation budget each side had. So a reader can see what
would have counted as a failure. `qdrank.evaluation.verdicts` compares claims with observations; this module imports
nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from math import ceil, isfinite, log

from qdrank.errors import InputError
from qdrank.registry import did_you_mean

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "cannot tell"
VERDICTS = (HOLDS, FAILS, UNCLEAR)

FINDING, CONTROL, CHECK = "finding", "control", "check"
PURPOSES = (FINDING, CONTROL, CHECK)
"""A claim of the paper; a comparison that the paper lacks; an identity that holds in any correct implementation."""


@dataclass(frozen=True)
class ClaimKind:
    """A kind of claim, in words.

    Attributes
    ----------
    holds, fails : what must be true of the interval; ``{margin}``, ``{limit}`` and what follows from them are filled in
    exact : decided value by value, without an interval
    limited : whether the claim names a limit
    contrasts : the contrasts that the observations must have; empty if they may have any
    """

    holds: str
    fails: str
    exact: bool = False
    limited: bool = False
    contrasts: tuple[str, ...] = ()


_GAIN = "the interval lies above 0, and the mean is above {margin}"
_NO_GAIN = "the interval lies below {margin}"
_LOSS = "the interval lies below 0, and the mean is below -{margin}"
CLAIM_KINDS: dict[str, ClaimKind] = {
    "superiority": ClaimKind(_GAIN, _NO_GAIN),
    "no superiority": ClaimKind(_NO_GAIN, _GAIN),
    "equivalence": ClaimKind(
        "the interval lies between -{margin} and {margin}",
        "the interval lies on one side of 0, and the mean is more than {margin} from 0",
    ),
    "non-inferiority": ClaimKind("the interval lies above -{margin}", _LOSS),
    "below": ClaimKind(
        "the interval lies below {limit}, and the mean is below {lower}",
        "the interval lies above {lower}",
        limited=True,
    ),
    "above": ClaimKind(
        "the interval lies above {limit}, and the mean is above {upper}",
        "the interval lies below {upper}",
        limited=True,
    ),
    "rise and fall": ClaimKind(
        f"both the rise and the fall: {_GAIN}", f"the rise or the fall: {_NO_GAIN}", contrasts=("rise", "fall")
    ),
    "flat": ClaimKind("every contrast: the interval lies above -{margin}", f"some contrast: {_LOSS}"),
    "identical": ClaimKind("every value is 0{within}", "some value is not", exact=True),
    "bounded": ClaimKind("no value is above {limit}", "some value is", exact=True, limited=True),
}


@dataclass(frozen=True)
class Claim:
    """A claim, and everything but the data that decides its verdict.

    Attributes
    ----------
    name : its id, under which its observations are kept
    text : the claim as a sentence
    compares : methods, the first of them minus each of the others, or pairs of methods by the name of the contrast; empty if
        the study has values of its own for the claim
    expected : what the paper says, in figures where it gives them
    kind : one of `CLAIM_KINDS`
    margin : the smallest difference that counts, in ``unit``
    limit : for the kinds that need one
    unit : of the margin and the effect: "NDCG", "share of queries", "change ratio"
    family : claims that are corrected together; empty: this claim alone
    purpose : finding, control or check
    measure : what is measured
    budget : how many settings each side could choose from on validation
    note : what a reader must know, such as a threshold that the paper does not give
    """

    name: str
    text: str
    compares: tuple[str, ...] | Mapping[str, tuple[str, str]] = ()
    _: KW_ONLY
    expected: str
    kind: str
    margin: float = 0.0
    limit: float | None = None
    unit: str = ""
    family: str = ""
    purpose: str = FINDING
    measure: str = ""
    budget: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        for value, allowed in ((self.kind, CLAIM_KINDS), (self.purpose, PURPOSES)):
            if value not in allowed:
                raise InputError(f"claim {self.name}: unknown {value!r}", fix=did_you_mean(value, list(allowed)))
        if not (isfinite(self.margin) and self.margin >= 0):
            raise InputError(f"claim {self.name}: the margin must be 0 or more", found=str(self.margin))
        if (self.limit is not None) != CLAIM_KINDS[self.kind].limited:
            need = "needs a limit" if CLAIM_KINDS[self.kind].limited else "has no limit"
            raise InputError(f"claim {self.name}: a claim of the kind {self.kind!r} {need}")

    @property
    def pairs(self) -> Mapping[str, tuple[str, str]]:
        """The two methods of each contrast, the first minus the second."""
        if not isinstance(self.compares, tuple):
            return self.compares
        first, *others = self.compares or ("",)
        if len(others) == 1:
            return {"value" if self.limit is not None else "difference": (first, others[0])}
        return {f"against {other}": (first, other) for other in others}

    @property
    def criteria(self) -> tuple[str, str]:
        """When the claim holds and when it does not, in words; otherwise the data cannot tell."""
        kind, limit = CLAIM_KINDS[self.kind], self.limit or 0.0
        numbers = {"margin": self.margin, "limit": limit, "lower": limit - self.margin, "upper": limit + self.margin}
        words = {name: f"{number:g}" for name, number in numbers.items()}
        words["within"] = f" to within {self.margin:g}" if self.margin else ""
        return kind.holds.format(**words), kind.fails.format(**words)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What applies to every claim of a study.

    Attributes
    ----------
    alpha : probability, at most, that any verdict of a family is wrong
    rare : share of all queries that an interval may not miss: its absence must be less likely than half the level
    differing : effective number of queries that must differ (`qdrank.evaluation.intervals`)
    seeds : seeds that a statement about a kind of simulated world needs
    sets : independent public sets of queries that an average over sets needs (`qdrank.evaluation.deciding`)
    power : probability with which the smallest detectable difference would be found
    """

    alpha: float = 0.05
    rare: float = 0.06
    differing: int = 10
    seeds: int = 10
    sets: int = 4
    power: float = 0.8

    def needed(self, level: float) -> int:
        """Queries that an interval at ``level`` needs: 60 at .05, 89 at .05 / 6, 100 at .05 / 12."""
        return ceil(log(level / 2) / log(1 - self.rare))


#: For two runs of a user's: 25 queries, more where several differences are corrected together (`bench/error_rates.py`).
RULES_OF_RUNS = Rules(rare=0.14)


@dataclass(frozen=True)
class Declaration:
    """The claims of one study."""

    study: str
    paper: str
    claims: tuple[Claim, ...]
    rules: Rules = field(default_factory=Rules)

    def __post_init__(self) -> None:
        names = [claim.name for claim in self.claims]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InputError(f"study {self.study}: two claims are called {twice[0]}")

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)
