"""Settings of simulated data, as a configuration gives them: their names, their defaults and what they may be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from qdrank.errors import InputError
from qdrank.registry import did_you_mean

Count = Annotated[int, Field(ge=1)]
Deviation = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


def _rising(bounds: tuple[int, int]) -> tuple[int, int]:
    if not 1 <= bounds[0] <= bounds[1]:
        raise ValueError(f"from {bounds[0]} to {bounds[1]} a query is no range")
    return bounds


#: Fewest and most documents of a query.
Documents = Annotated[tuple[int, int], Field(strict=False), AfterValidator(_rising)]


class World(BaseModel):
    """Base of the settings of simulated data; a value is of its setting's type, not turned into it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    seed: Annotated[int, Field(ge=0)] = 0
    """Of the draw; another seed is another world, not another sample of queries."""

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """The same with some settings changed; an unknown name, or a value that does not fit, is the user's error."""
        try:
            return type(self).model_validate({**self.model_dump(), **changes})
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
        name = str(fault["loc"][0])
        if fault["type"] == "extra_forbidden":
            known = list(type(self).model_fields)
            raise InputError(f"unknown setting {name!r} of simulated data", fix=did_you_mean(name, known))
        problem = f"{name}: {fault['msg'].removeprefix('Value error, ')}"
        fix = f"for instance {name}: {json.dumps(getattr(self, name))}"
        raise InputError(problem, found=repr(fault["input"]), fix=fix)


class SplitWorld(World):
    """Settings of data with a fixed split: how many queries train, validate and test."""

    train: Count = 1500
    vali: Annotated[int, Field(ge=0)] = 400
    test: Annotated[int, Field(ge=0)] = 400

    @property
    def queries(self) -> int:
        """Number of queries in all parts."""
        return self.train + self.vali + self.test


#: The kinds of query, with TREC's names for their tasks: homepage finding, named page finding, topic distillation.
QUERY_KINDS = ("homepage", "named_page", "topic")


class WebSimulation(SplitWorld):
    """The web to simulate; nearness of queries helps by design, their words help less."""

    candidates: Annotated[int, Field(ge=2)] = 40
    """Most documents of a query; a query whose words are on few pages has fewer."""
    sites: Annotated[int, Field(ge=6)] = 300
    topics: Annotated[int, Field(ge=2)] = 30
    """Subjects that the sites are about, each with words of its own."""
    pages: Annotated[int, Field(ge=8)] = 26
    """Pages of a middling site."""
    body: Annotated[int, Field(ge=10)] = 70
    """Words in the body of a middling page."""
    links: Count = 6
    """Links to other sites that a page has on average."""
    noise: Deviation = 1.1
    """Deviation of the noise in the grades, relative to what the rule of the kind explains."""
    ambiguity: Share = 0.7
    """How alike the words of different kinds of query are: the share of queries without a word that gives the kind away,
    and how often a word that is typical of one kind strays into the others."""
    one_rule: bool = False
    """Negative control: all kinds are graded by the mean of the three rules; the queries and pages stay the same."""


class Simulation(SplitWorld):
    """What to simulate; the defaults have the size of the paper's Dataset 1.

    How large the effect is in the paper's own data cannot be known: its figures have no numbers. ``locality`` sets it here, and
    ``cues`` sets how well query types can be guessed, near the paper's 60 %.
    """

    features: Count = 200
    documents: Documents = (30, 50)
    locality: Deviation = 0.5
    """Deviation of the weights that vary with the query, relative to the common ones; 0 is the negative control."""
    noise: Deviation = 1.5
    """Deviation of the noise in the grades, relative to what the features explain."""
    smoothness: Annotated[float, Field(gt=0)] = 1.5
    """Distance in the latent plane over which weights change; the types are 1.7 apart."""
    spread: Deviation = 0.55
    """Deviation of the queries of a type around its corner: larger means softer borders."""
    looks: Deviation = 0.35
    """Deviation of the feature means over the plane, relative to that of the documents of one query."""
    blur: Deviation = 0.25
    """Deviation of the feature means that has nothing to do with the position."""
    cues: Deviation = 0.8
    """Clearness of the query columns as signs of the type."""


SIMULATIONS: dict[str, Simulation] = {
    "sim1": Simulation(),
    "sim2": Simulation(train=3000, vali=800, test=800),
}


class AffineCopies(SplitWorld):
    """Queries that are copies of one, each with its own zero and unit."""

    train: Count = 300
    vali: Annotated[int, Field(ge=0)] = 100
    test: Annotated[int, Field(ge=0)] = 200
    features: Annotated[int, Field(ge=2)] = 20
    documents: Documents = (15, 30)
    noise: Deviation = 0.7
    """Deviation of the noise in the merits, relative to what the features explain."""
    shift: Deviation = 2.0
    """Deviation by query of the latter half of the features, relative to that of the documents of one query."""


class TwoRuns(World):
    """Two runs, of which now one and now the other is better."""

    queries: Count = 2000
    documents: Count = 40
    """Documents of a query."""
    relevant: Count = 6
    """How many of them are relevant."""
    dependence: Share = 0.5
    """d, 0 to 1: how much the better run depends on the query."""
    topics: Count = 4
    """Topics of each type, whose documents its queries share."""

    @field_validator("relevant")
    @classmethod
    def _among_the_documents(cls, relevant: int, others: ValidationInfo) -> int:
        if relevant > others.data.get("documents", relevant):
            raise ValueError("a query has fewer documents")
        return relevant
