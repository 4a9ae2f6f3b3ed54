"""A first stage for new queries. Most that is served searches no text, so what does that is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from qdrank.text.analyser import Analyser
    from qdrank.text.index import Index
    from qdrank.text.retrieve import RankedDocuments


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """A first stage as it is stored: it searches a collection of text for new queries.

    Attributes
    ----------
    method, fold : its name, and the fold that chose its settings
    stemmer, stop_words, searched, depth : how words are made, the field, the documents of a run
    variant, k1, b : of `BM25`
    documents, terms, weight : of `Feedback`; a weight of 1 is none
    """

    NAME: ClassVar[str] = "first-stage"

    method: str
    fold: str
    stemmer: str
    stop_words: str
    searched: str
    depth: int
    variant: str
    k1: float
    b: float
    documents: int = 1
    terms: int = 1
    weight: float = 1.0

    def settings(self) -> dict[str, Any]:
        """Everything but its name and the fold."""
        return {name: value for name, value in vars(self).items() if name not in ("method", "fold")}

    @property
    def analyser(self) -> Analyser:
        """What makes words of texts."""
        from qdrank.text.analyser import Analyser

        return Analyser(stemmer=self.stemmer, stop_words=self.stop_words)

    def search(self, index: Index, texts: Sequence[str]) -> RankedDocuments:
        """The best documents of each of the queries with these texts; ``index`` is of the same analyser."""
        from qdrank.text.expansion import Feedback, expanded_queries
        from qdrank.text.index import analyse_queries
        from qdrank.text.retrieve import BM25, retrieve

        field, words = index.field(self.searched), analyse_queries(index, texts)
        model = BM25(variant=self.variant, k1=self.k1, b=self.b)
        found = retrieve(field, words, model, n_top=self.depth)
        if self.weight == 1:
            return found
        words = expanded_queries(field, words, found, Feedback(self.documents, self.terms, self.weight))
        return retrieve(field, words, model, n_top=self.depth)
