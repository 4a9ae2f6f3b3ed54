"""Every rank model against its definition, worked out by plain Python on a collection of five documents."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.collections.model import Documents
from qdrank.errors import InputError
from qdrank.text.analyser import Analyser
from qdrank.text.index import analyse_queries, build_index
from qdrank.text.models import MODELS, OHSUMED, Constants, match

PLAIN = Analyser(stemmer="none", stop_words="none")
# "flow" stands in every body (df = |C|), one title is empty, one query repeats a term and has an unknown one.
TITLES = ["wing in flow", "plate", "", "wing wing heat", "flow plate flow"]
BODIES = [
    "flow over the wing wing",
    "flow past a plate a plate a plate",
    "flow",
    "heat transfer in flow of heat",
    "slip flow and heat of the wing",
]
QUERIES = ["wing flow", "plate heat plate", "wing ghost", "ghost", "", "flow"]


class Field:
    """A field as lists of words, and the sums of the papers' definitions over them."""

    def __init__(self, texts: list[str], constants: Constants) -> None:
        self.docs, self.k = [text.split() for text in texts], constants
        self.n, self.tokens = len(texts), sum(map(len, self.docs))

    def df(self, t: str) -> int:
        return sum(t in d for d in self.docs)

    def cf(self, t: str) -> int:
        return sum(d.count(t) for d in self.docs)

    def low(self, q: list[str], d: list[str], value, over_query: bool = False) -> float:
        """Sum of a per-term value over the words of q that are in d, or in any document."""
        return sum(value(t, d.count(t), len(d)) for t in q if (self.df(t) if over_query else d.count(t)))

    def bm25(self, q: list[str], d: list[str]) -> float:
        k1, b, mean = self.k.k1, self.k.b, self.tokens / self.n

        def value(t, c, size):
            idf = max(log((self.n - self.df(t) + 0.5) / (self.df(t) + 0.5)), 0)
            asked = (self.k.k3 + 1) * q.count(t) / (self.k.k3 + q.count(t))
            return idf * (k1 + 1) * c / (c + k1 * (1 - b + b * size / mean)) * asked

        return self.low(sorted(set(q)), d, value)

    def lm(self, q: list[str], probability) -> float:
        """Every occurrence of a term in the query counts; terms that the field never holds do not."""
        return sum(log(probability(t, self.cf(t) / self.tokens)) for t in q if self.cf(t))

    def models(self, q: list[str], d: list[str]) -> dict[str, float]:
        n, df, cf, k, size = self.n, self.df, self.cf, self.k, len(d)
        over = k.idf_over == "query"
        share = {t: d.count(t) / size if size else 0.0 for t in q}
        freed = k.delta * (len(set(d)) / size if size else 1.0)
        bm25 = self.bm25(q, d)
        return {
            "L1": self.low(q, d, lambda t, c, size: c),
            "L2": self.low(q, d, lambda t, c, size: log(c + 1)),
            "L3": self.low(q, d, lambda t, c, size: c / size),
            "L4": self.low(q, d, lambda t, c, size: log(c / size + 1)),
            "L5": self.low(q, d, lambda t, c, size: log(n / df(t)), over),
            "L6": self.low(q, d, lambda t, c, size: log(log(n / df(t))) if df(t) < n else log(1 / n), over),
            "L7": self.low(q, d, lambda t, c, size: log(n / cf(t) + 1), over),
            "L8": self.low(q, d, lambda t, c, size: log(c / size * log(n / df(t)) + 1)),
            "L9": self.low(q, d, lambda t, c, size: c * log(n / df(t))),
            "L10": self.low(q, d, lambda t, c, size: log(c / size * n / cf(t) + 1)),
            "H1": bm25,
            "H2": log(bm25) if bm25 > 1 else 0.0,
            "H3": self.lm(q, lambda t, p: (d.count(t) + k.mu * p) / (size + k.mu)),
            "H4": self.lm(q, lambda t, p: (1 - k.jm) * share[t] + k.jm * p),
            "H5": self.lm(q, lambda t, p: max(d.count(t) - k.delta, 0) / max(size, 1) + freed * p),
            "IDF": self.low(q, d, lambda t, c, size: log(n / df(t)), True),
            "length": size,
        }


@pytest.mark.parametrize("constants", [Constants(), OHSUMED, Constants(idf_over="query")])
@pytest.mark.parametrize("name", ["title", "body", "both"])
def test_every_model_equals_its_definition(constants, name):
    both = [f"{title} {body}" for title, body in zip(TITLES, BODIES, strict=True)]
    texts = {"title": TITLES, "body": BODIES, "both": both}[name]
    index = build_index(Documents(list("abcde"), {"title": TITLES, "body": BODIES}), PLAIN)
    query, document = (grid.ravel() for grid in np.meshgrid(range(len(QUERIES)), range(5), indexing="ij"))
    matches = match(index.fields[name], analyse_queries(index, QUERIES), query, document, constants)
    oracle = Field(texts, constants)
    for model in (
        "L1",
        "L2",
        "L3",
        "L4",
        "L5",
        "L6",
        "L7",
        "L8",
        "L9",
        "L10",
        "H1",
        "H2",
        "H3",
        "H4",
        "H5",
        "IDF",
        "length",
    ):
        values = MODELS[model](matches)
        for pair, (i, j) in enumerate(zip(query.tolist(), document.tolist(), strict=True)):
            expected = oracle.models(QUERIES[i].split(), texts[j].split())[model]
            assert values[pair] == pytest.approx(expected, rel=1e-12, abs=1e-12), (model, QUERIES[i], j)


def test_worked_by_hand():
    """Query "wing flow", first body "flow over the wing wing": wing twice in 5 words, df 2 and cf 3; flow once, df 5."""
    index = build_index(Documents(list("abcde"), {"title": TITLES, "body": BODIES}), PLAIN)
    matches = match(index.fields["body"], analyse_queries(index, QUERIES), np.array([0]), np.array([0]))
    value = {name: model(matches)[0] for name, model in MODELS.items()}
    assert index.fields["body"].n_tokens == 27
    assert value["L1"] == 3
    assert value["L2"] == pytest.approx(1.0986 + 0.6931, abs=1e-4)
    assert value["L3"] == pytest.approx(0.6)
    assert value["L4"] == pytest.approx(0.3365 + 0.1823, abs=1e-4)
    assert value["L5"] == pytest.approx(0.9163, abs=1e-4)  # log(5/2) + log(5/5)
    assert value["L6"] == pytest.approx(-0.0874 - 1.6094, abs=1e-4)  # log(log(5/2)) + log(1/5), the guard
    assert value["L7"] == pytest.approx(0.9808 + 0.6931, abs=1e-4)  # log(5/3 + 1) + log(5/5 + 1)
    assert value["L9"] == pytest.approx(1.8326, abs=1e-4)
    assert value["H1"] == pytest.approx(0.3365 * 3.5 * 2 / (2 + 2.5 * (0.2 + 0.8 * 5 / 5.4)), abs=1e-4)
    assert value["H4"] == pytest.approx(log(0.9 * 0.4 + 0.1 * 3 / 27) + log(0.9 * 0.2 + 0.1 * 5 / 27))
    assert value["coverage"] == 1.0


words = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)


@given(
    pages=st.lists(st.tuples(words, words), min_size=1, max_size=6),
    queries=st.lists(words, min_size=1, max_size=3),
    constants=st.sampled_from([Constants(), OHSUMED, Constants(k1=0.0, b=1.0, jm=1.0, delta=1.0)]),
)
def test_no_collection_gives_a_value_that_is_not_finite(pages, queries, constants):
    titles, bodies = map(list, zip(*pages, strict=True))
    index = build_index(Documents([str(i) for i in range(len(pages))], {"title": titles, "body": bodies}), PLAIN)
    query, document = (grid.ravel() for grid in np.meshgrid(range(len(queries)), range(len(pages)), indexing="ij"))
    for field in index.fields.values():
        matches = match(field, analyse_queries(index, queries), query, document, constants)
        for name, model in MODELS.items():
            values = model(matches)
            assert values.shape == query.shape
            assert np.isfinite(values).all(), name


def test_bad_constants_are_refused():
    for wrong in ({"mu": 0.0}, {"jm": 0.0}, {"delta": 2.0}, {"b": -1.0}, {"k3": -1.0}, {"idf_over": "all"}):
        with pytest.raises(InputError, match="bad constants"):
            Constants(**wrong)
