"""Should the weights of a fusion depend on the query? Fixed weights, weights per query and their controls, from run files."""

from __future__ import annotations

from qdrank.studies.hybrid.methods import CHOSEN, FIXED, METHODS, run
from qdrank.studies.study import Output, Study

_ROOM = "qdrank.studies.hybrid"
_VALUES = {
    "measures": "hybrid/measures.parquet",
    "controls": "{fold}/hybrid/controls.parquet",
    "paper_controls": "{fold}/hybrid/paper-controls.parquet",
}
_CHOICES = {"choices": "{fold}/choices/hybrid.parquet", "paper_choices": "{fold}/choices/hybrid-papers.parquet"}
_ORACLE = {"oracle": "{fold}/hybrid/oracle.parquet"}

STUDY = Study(
    name="hybrid",
    short="hybrid",
    paper="hybrid weights",
    idea="Give each query weights of its own for the runs that are fused, such as lexical and dense search.",
    against=FIXED,
    section=f"{_ROOM}.settings:Hybrid",
    methods=METHODS,
    run=run,
    measures=("ndcg@10/linear", "ap"),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"hybrid-methods-figure": "weights per query against fixed weights"},
            _VALUES,
            said="The primary comparison: the method that validation chose against tuned fixed weights.",
            claims=("gain", "control", "papers", "rrf", "each*", "*trees*", "query columns", "evidence*"),
        ),
        Output(
            f"{_ROOM}.figures:draw_weights",
            {"hybrid-weights": "measure against the weight"},
            {"weights": "{fold}/hybrid/weights.parquet", "columns": "columns.parquet"},
            said="If the best weight depended on the query's margin, the curves of the thirds would peak at different weights.",
            claims=("all neighbours",),
        ),
        Output(
            f"{_ROOM}.figures:draw_oracle",
            {"hybrid-oracle": "oracle beside noise"},
            _ORACLE,
            said="Whoever chooses by the judgments gains; the question is whether weights gain more than noise does.",
            claims=("oracle", "bound"),
        ),
        Output(
            f"{_ROOM}.figures:draw_learning",
            {"hybrid-learning": "number of judged queries"},
            {"learning": "{fold}/hybrid/learning.parquet"},
            said="Weights per query may need more judged queries than there are.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {"hybrid-methods": "methods and controls", "hybrid-tests": "comparisons", "hybrid-oracles": "oracles"},
            {**_VALUES, **_ORACLE, **_CHOICES},
        ),
    ),
    observations=Output(
        f"{_ROOM}.observations:gather",
        {"hybrid-claims": "claims"},
        {**_VALUES, **_ORACLE, "checks": "{fold}/hybrid/checks.parquet"},
    ),
    claims=f"{_ROOM}.claims:declare",
    budget=("hybrid.ks", "hybrid.lambdas", "hybrid.leaves", "hybrid.powers"),
    served={"weights": CHOSEN},
    kinds=("runs",),
)
