"""Should the weights of a fusion depend on the query? Fixed weights, weights per query and their controls, from run files."""

from __future__ import annotations

from typing import Any

from qdrank.studies import stored_kinds
from qdrank.studies.hybrid.methods import BORROWED, CHOSEN, FIXED, METHODS
from qdrank.studies.hybrid.methods import run as methods_run
from qdrank.studies.study import QUERY_FILES, Output, Step, Study, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.hybrid"


def _params(run: Any) -> dict[str, Any]:
    settings = run.settings
    return {
        "scale": settings.training.scale,
        "queries": run.query_options,
        "hybrid": {
            **settings.hybrid.solved(),
            "tol": settings.training.tol,
            "readings": settings.lin.readings(),
            "kinds": {kind: stored_kinds()[kind] for kind in BORROWED},
        },
        "methods": methods_run(settings.hybrid),
        "seed": settings.seed,
        "refits": settings.refits,
    }


STEPS = (
    Step(
        name="fit_hybrid",
        says="All methods and controls of a fold, tuned on validation, the oracles and the curves.",
        call=f"{_ROOM}.fold:write_fold",
        reads={**QUERY_FILES, "judged": "judged.parquet"},
        makes=lambda run: {
            **scores_and_rankers(methods_run(run.settings.hybrid)),
            **further_fits(run.refitted(methods_run(run.settings.hybrid))),
            "choices": "{fold}/choices/hybrid.parquet",
            **{name: f"{{fold}}/hybrid/{name}.parquet" for name in ("values", "checks")},
        },
        params=_params,
        memory=(900, 15),
        minutes=(60, 4),
    ),
)

_VALUES = {"measures": "hybrid/measures.parquet", "values": "{fold}/hybrid/values.parquet"}
_CHOICES = {"choices": "{fold}/choices/hybrid.parquet"}

STUDY = Study(
    name="hybrid",
    short="hybrid",
    paper="hybrid weights",
    idea="Give each query weights of its own for the runs that are fused, such as lexical and dense search.",
    against=FIXED,
    section=f"{_ROOM}.settings:Hybrid",
    methods=METHODS,
    run=methods_run,
    steps=STEPS,
    measures=("ndcg@10/linear", "ap"),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"hybrid-methods-figure": "weights per query against fixed weights"},
            _VALUES,
            said="The primary comparison: the method that validation chose against tuned fixed weights.",
            claims=("gain", "control", "papers", "rrf", "each*", "*trees*", "query columns", "evidence*", "*split*"),
            caption="Every method on the test queries: mean NDCG@10, and the difference from fixed weights tuned on "
            "the same judged queries, with its interval. A control is the same method, tuned in the same way, without "
            "what it knows of the query: random judged queries for near ones, the predictors or margins of another "
            "query, the document's prior for the judgments of similar queries.",
        ),
        Output(
            f"{_ROOM}.figures:draw_weights",
            {"hybrid-weights": "measure against the weight"},
            _VALUES,
            said="If the best weight depended on the query's margin, the curves of the thirds would peak at different weights.",
            claims=("all neighbours",),
            caption="NDCG@10 of the test queries against the weight of one run, the rest shared as in the tuned fixed "
            "weights (dotted), for all queries and for thirds of them by the run's margin: how far its first score "
            "lies above its tenth.",
        ),
        Output(
            f"{_ROOM}.figures:draw_oracle",
            {"hybrid-oracle": "oracle beside noise"},
            _VALUES,
            said="Whoever chooses by the judgments gains; the question is whether weights gain more than noise does.",
            claims=("oracle", "bound"),
            caption="Gain on the tuned ranking when each test query's own judgments choose the best of all weights "
            "(black), or of as many rankings that differ as much but know nothing (red: as declared; grey: other "
            "forms of noise, another distance, half and twice the size). Right: how far the rankings are from the "
            "tuned one, and two of them from each other.",
        ),
        Output(
            f"{_ROOM}.figures:draw_learning",
            {"hybrid-learning": "number of judged queries"},
            _VALUES,
            said="Weights per query may need more judged queries than there are.",
            caption="NDCG@10 on the test queries against the number of judged queries that weights were learned from "
            "(left), and the difference from fixed weights tuned on as many (right). Means over random subsets, with "
            "the settings chosen on all judged queries.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {"hybrid-methods": "methods and controls", "hybrid-tests": "comparisons", "hybrid-oracles": "oracles"},
            {**_VALUES, **_CHOICES},
            caption={
                "hybrid-methods": "Single runs, methods and controls on the test queries: mean NDCG@10, difference "
                "from tuned fixed weights with its interval and t test (uncorrected; the verdict is by Holm's p-value "
                "over this table), and the settings that validation chose in each fold.",
                "hybrid-tests": "The primary comparisons first, then every method against tuned fixed weights and its "
                "control. Holm's correction is over the whole table; the smallest detectable difference would have "
                "been found with probability 0.8. A verdict needs enough queries that differ, and a bootstrap that "
                "agrees.",
                "hybrid-oracles": "Gain on the tuned ranking when each test query's own judgments choose among the "
                "weights and among noise; mean distance from the tuned ranking, and of two of the rankings.",
            },
        ),
    ),
    observations=Output(
        f"{_ROOM}.tables:gather",
        {"hybrid-claims": "claims"},
        {**_VALUES, "checks": "{fold}/hybrid/checks.parquet"},
        caption="What was claimed before any number was seen, and what the data say about it.",
    ),
    claims=f"{_ROOM}.claims:declare",
    main="gain",
    budget=("hybrid.ks", "hybrid.lambdas", "hybrid.leaves", "hybrid.powers"),
    served={"weights": CHOSEN},
    kinds=("runs",),
)
