"""Measures of a ranking; the definition of a measure is part of its name.

A name is ``measure[(parameters)][@k][/convention]``: ``ndcg@10/letor4`` is the NDCG at rank 10 as the LETOR 4.0 script computes
it, ``ndcg@10/exp`` the usual one, ``ap`` is average precision, ``ap(rel=2)@100/trec`` that of trec_eval with ``-l 2``. The names
of ir_measures (``nDCG@10``, ``AP(rel=2)@100``) stand for the convention ``trec``. `MEASURES` maps each definition, with ``@k`` for any
cutoff, to the code behind it; `CONVENTIONS` lists what is usually reported together. A measure is added by one
class and one line here.

==============  =========  ==================  ===========  =============  ==========
convention      gain       discount at rank j  no relevant  n_q < k        ties
==============  =========  ==================  ===========  =============  ==========
letor4, letor3  2^r - 1    max(1, log2 j)      0            NDCG@k is 0    row order
geng            2^r - 1    max(1, log2 j)      0            short list     row order
exp             2^r - 1    log2(j + 1)         0            short list     row order
lightgbm        2^r - 1    log2(j + 1)         1            short list     row order
linear          r          log2(j + 1)         0            short list     row order
trec            r          log2(j + 1)         0            short list     by docno
trec_double     r          log2(j + 1)         0            short list     by docno
zha             0 ½ 3 7 10 log2(j + 1)         0            short list     row order
==============  =========  ==================  ===========  =============  ==========

``trec`` is trec_eval up to version 9.0.8 (and pytrec_eval), which compares scores in single precision; later versions compare
doubles, as ``trec_double`` does. Every query counts in a mean, even without relevant documents. A document with grade 1 or
more (``rel=``) is relevant.
"""

from __future__ import annotations

from qdrank.registry import Registry

#: Ends of the names of measures whose conventions differ only in the order of tied documents.
_TIES = {"": "", "/trec": "_TREC", "/trec_double": "_TREC_DOUBLE"}


def _by_ties(name: str) -> dict[str, str]:
    kind = name.partition("@")[0].upper()
    return {name + end: f"qdrank.measures.definitions:{kind}{order}" for end, order in _TIES.items()}


MEASURES = Registry(
    "measure",
    {
        **_by_ties("ap"),
        **_by_ties("ap@k"),
        **_by_ties("rr"),
        **_by_ties("rr@k"),
        **_by_ties("r@k"),
        **_by_ties("success@k"),
        **_by_ties("judged@k"),
        **_by_ties("bpref"),
        **_by_ties("rbp"),
        **_by_ties("rbp@k"),
        "p@k/letor4": "qdrank.measures.definitions:P_LETOR4",
        "p@k/letor3": "qdrank.measures.definitions:P_LETOR3",
        "p@k/trec": "qdrank.measures.definitions:P_TREC",
        "p@k/trec_double": "qdrank.measures.definitions:P_TREC_DOUBLE",
        "ndcg@k/letor4": "qdrank.measures.definitions:NDCG_LETOR",
        "ndcg@k/letor3": "qdrank.measures.definitions:NDCG_LETOR",
        "ndcg@k/geng": "qdrank.measures.definitions:NDCG_GENG",
        "ndcg@k/exp": "qdrank.measures.definitions:NDCG_EXP",
        "ndcg@k/lightgbm": "qdrank.measures.definitions:NDCG_LIGHTGBM",
        "ndcg@k/linear": "qdrank.measures.definitions:NDCG_LINEAR",
        "ndcg@k/trec": "qdrank.measures.definitions:NDCG_TREC",
        "ndcg@k/trec_double": "qdrank.measures.definitions:NDCG_TREC_DOUBLE",
        "ndcg/geng": "qdrank.measures.definitions:NDCG_GENG",
        "ndcg/exp": "qdrank.measures.definitions:NDCG_EXP",
        "ndcg/lightgbm": "qdrank.measures.definitions:NDCG_LIGHTGBM",
        "ndcg/linear": "qdrank.measures.definitions:NDCG_LINEAR",
        "ndcg/trec": "qdrank.measures.definitions:NDCG_TREC",
        "ndcg/trec_double": "qdrank.measures.definitions:NDCG_TREC_DOUBLE",
        "mean_ndcg/letor4": "qdrank.measures.definitions:MEAN_NDCG_LETOR4",
        "mean_ndcg/geng": "qdrank.measures.definitions:MEAN_NDCG_GENG",
        "dcg@k/letor4": "qdrank.measures.definitions:DCG_LETOR",
        "dcg@k/exp": "qdrank.measures.definitions:DCG_EXP",
        "dcg@k/linear": "qdrank.measures.definitions:DCG_LINEAR",
        "dcg@k/zha": "qdrank.measures.definitions:DCG_ZHA",
    },
    together=True,
)


def _at(name: str, cutoffs: range = range(1, 11)) -> tuple[str, ...]:
    return tuple(name.replace("@k", f"@{k}") for k in cutoffs)


CONVENTIONS: dict[str, tuple[str, ...]] = {
    "letor4": ("ap", *_at("p@k/letor4"), *_at("ndcg@k/letor4"), "mean_ndcg/letor4"),
    "letor3": ("ap", *_at("p@k/letor3"), *_at("ndcg@k/letor3")),
    "geng": (*_at("ndcg@k/geng"), "mean_ndcg/geng"),
    "exp": ("ap", "rr", *_at("ndcg@k/exp"), "ndcg/exp"),
    "lightgbm": (*_at("ndcg@k/lightgbm"), "ndcg/lightgbm"),
    "linear": ("ap", "rr", *_at("ndcg@k/linear"), "ndcg/linear"),
    "trec": ("ap/trec", "rr/trec", *_at("p@k/trec"), *_at("ndcg@k/trec"), "ndcg/trec"),
    "trec_double": (
        "ap/trec_double",
        "rr/trec_double",
        *_at("p@k/trec_double"),
        *_at("ndcg@k/trec_double"),
        "ndcg/trec_double",
    ),
    "zha": _at("dcg@k/zha", range(1, 6)),
}
"""What is reported together: ``letor4`` and ``letor3`` are the lists that the publisher's scripts print."""

_LETOR, _USUAL = "gain 2^grade - 1, ranks 1 and 2 undiscounted, then 1 / log2(rank)", "discount 1 / log2(rank + 1)"
SHORT_IS_ZERO = dict.fromkeys(("letor4", "letor3"), f"{_LETOR}; 0 for a query with fewer than k documents")
NDCG_IN_WORDS = {
    "geng": _LETOR,
    "exp": f"gain 2^grade - 1, {_USUAL}",
    "lightgbm": f"gain 2^grade - 1, {_USUAL}; 1 for a query without relevant documents",
    "linear": f"gain grade, {_USUAL}",
    **dict.fromkeys(("trec", "trec_double"), f"gain grade, {_USUAL}; ties by descending document id"),
    **SHORT_IS_ZERO,
}
"""NDCG@k of each convention that has one, as pages say it; those of `SHORT_IS_ZERO` come last."""

USUAL_CONVENTIONS = ("letor4", "geng", "exp")
"""Those that are measured unless a configuration names others."""
