"""What to simulate, and the three kinds of query."""

from __future__ import annotations

from dataclasses import dataclass

from qdrank.errors import InputError

#: The kinds of query, with TREC's names for their tasks: homepage finding, named page finding, topic distillation.
QUERY_KINDS = ("homepage", "named_page", "topic")
#: Settings that count something, and the least each may be.
LEAST = {"train": 1, "vali": 0, "test": 0, "candidates": 2, "sites": 6, "topics": 2, "pages": 8, "body": 10, "links": 1}


@dataclass(frozen=True, kw_only=True)
class WebSimulation:
    """The web to simulate; nearness of queries helps by design, their words help less."""

    train: int = 1500
    vali: int = 400
    test: int = 400
    candidates: int = 40
    """Most documents of a query; a query whose words are on few pages has fewer."""
    sites: int = 300
    topics: int = 30
    """Subjects that the sites are about, each with words of its own."""
    pages: int = 26
    """Pages of a middling site."""
    body: int = 70
    """Words in the body of a middling page."""
    links: int = 6
    """Links to other sites that a page has on average."""
    noise: float = 1.1
    """Deviation of the noise in the grades, relative to what the rule of the kind explains."""
    ambiguity: float = 0.7
    """How alike the words of different kinds of query are: the share of queries without a word that gives the kind away,
    and how often a word that is typical of one kind strays into the others."""
    one_rule: bool = False
    """Negative control: all kinds are graded by the mean of the three rules; the queries and pages stay the same."""

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if not getattr(self, name) >= least:
                raise InputError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if not 0 <= self.ambiguity <= 1:
            raise InputError(f"ambiguity is a share from 0 to 1, not {self.ambiguity}")
        if not 0 <= self.noise < float("inf"):
            raise InputError(f"noise must be 0 or more, not {self.noise}")

    @property
    def queries(self) -> int:
        """Number of queries in all parts."""
        return self.train + self.vali + self.test
