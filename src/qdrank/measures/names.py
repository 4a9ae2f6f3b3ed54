"""Names of measures: ``measure[@k][/convention]``, and their form for file names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from qdrank.errors import InputError
from qdrank.measures import MEASURES
from qdrank.registry import did_you_mean

_NAME = re.compile(r"(?P<family>[a-z_]+)(@(?P<cutoff>[1-9][0-9]{0,5}))?(/(?P<convention>[a-z0-9_]+))?")
_TITLES = {"ap": "MAP", "rr": "MRR", "mean_ndcg": "mean NDCG"}


@dataclass(frozen=True)
class Measure:
    """A measure by name: its family, cutoff (None: no cutoff) and convention (empty: there is only one)."""

    family: str
    cutoff: int | None = None
    convention: str = ""

    @property
    def name(self) -> str:
        """The name as it is written in configurations and tables, ``ndcg@10/letor4``."""
        return self._spelt("@", "/", str(self.cutoff))

    @property
    def definition(self) -> str:
        """The entry of `MEASURES` behind the name, ``ndcg@k/letor4``."""
        return self._spelt("@", "/", "k")

    @property
    def slug(self) -> str:
        """The name for files and targets, ``ndcg-10-letor4``."""
        return self._spelt("-", "-", str(self.cutoff))

    @property
    def title(self) -> str:
        """What tables and axes call the mean over queries: ``NDCG@10``, ``MAP``."""
        title = _TITLES.get(self.family, self.family.upper())
        return title if self.cutoff is None else f"{title}@{self.cutoff}"

    def _spelt(self, at: str, slash: str, cutoff: str) -> str:
        name = self.family if self.cutoff is None else f"{self.family}{at}{cutoff}"
        return f"{name}{slash}{self.convention}" if self.convention else name


def parse(name: str) -> Measure:
    """The measure called ``name``.

    Raises
    ------
    InputError
        If there is none; the error names the closest one.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"{name!r} is not the name of a measure", fix="write measure@k/convention, for example ndcg@10/letor4"
        )
    cutoff = match["cutoff"]
    measure = Measure(match["family"], int(cutoff) if cutoff else None, match["convention"] or "")
    if measure.definition not in MEASURES:
        raise InputError(f"unknown measure {name!r}", fix=_suggestion(measure))
    return measure


def _suggestion(measure: Measure) -> str:
    """The closest definition, with the same cutoff; the convention is never guessed."""
    own = [name for name in MEASURES if re.split("[@/]", name)[0] == measure.family]
    if own and not measure.convention:
        hint = "say which convention: " + ", ".join(own)
    else:
        hint = did_you_mean(measure.definition, own or list(MEASURES))
    return hint.replace("@k", f"@{measure.cutoff}") if measure.cutoff else hint


def parse_slug(slug: str) -> Measure:
    """The measure whose `Measure.slug` is ``slug``."""
    family, *rest = slug.split("-")
    cutoff = rest.pop(0) if rest and rest[0].isdecimal() else None
    name = family if cutoff is None else f"{family}@{cutoff}"
    return parse("/".join([name, *rest]))
