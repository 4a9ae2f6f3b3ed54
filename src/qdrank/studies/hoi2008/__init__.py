"""Hoi and Jin 2008: supervised (SER) and semi-supervised (SSER) ensemble ranking."""

from __future__ import annotations

from typing import Any

from qdrank.rankers.methods import CLASSIC
from qdrank.studies.hoi2008.methods import METHODS, STACKED_METHODS, ensembles, run, stacked
from qdrank.studies.study import Output, Step, Study, further_fits, scores_and_rankers

_ROOM = "qdrank.studies.hoi2008"
_JUDGED = {"judged": "judged.parquet"}


def _fold(run: Any) -> dict[str, Any]:
    hoi, settings = run.settings.hoi, run.settings
    return {"scale": hoi.scale, "measure": settings.learners.measure, "seed": settings.seed, "hoi": hoi.solved()}


STEPS = (
    Step(
        name="fit_hoi",
        says="SER, SSER and their controls on a fold, through every gamma, with settings chosen on validation.",
        call=f"{_ROOM}.fold:write_fold",
        reads=_JUDGED,
        makes=lambda run: {
            **scores_and_rankers(ensembles()),
            **further_fits(run.refitted(ensembles())),
            "weights": "{fold}/hoi/weights.parquet",
            "values": "{fold}/hoi/values.parquet",
            "choices": "{fold}/choices/hoi.parquet",
        },
        params=lambda run: _fold(run) | {"refits": run.settings.refits},
    ),
    Step(
        name="learn_hoi_curve",
        says="SER, SSER, Ranking SVM and ListNet on random subsets of the training queries.",
        call=f"{_ROOM}.fold:write_curve",
        reads=_JUDGED,
        makes={"curve": "{fold}/hoi/curve.parquet"},
        params=lambda run: _fold(run) | {"sizes": run.settings.hoi.sizes, "repeats": run.settings.hoi.repeats},
        memory=(800, 5.5),
        minutes=(60, 2),
        together="always",
    ),
    Step(
        name="stack_hoi",
        says="Ensembles whose rankers are methods: SER, SSER and BordaCount, learned on the validation queries.",
        call=f"{_ROOM}.fold:write_stacked",
        reads=lambda run: {
            **_JUDGED,
            "rankers": [f"{{fold}}/served/{name}.parquet" for name in run.settings.hoi.methods],
        },
        makes=scores_and_rankers([method.name for method in STACKED_METHODS]),
        params=lambda run: {
            "scale": lambda wildcards: run.learner_scale(wildcards.dataset),
            "hoi": {**run.settings.hoi.solved(), "methods": run.settings.hoi.methods},
            "measure": run.settings.learners.measure,
            "seed": run.settings.seed,
            "looked_up": ["learner", *(CLASSIC[name].learner for name in run.settings.hoi.methods)],
        },
        datasets=lambda run, names: names if stacked(run.settings.hoi) else [],
        memory=(800, 5.5),
        minutes=(30, 0.2),
    ),
)


_MEASURES = {"measures": "hoi/measures.parquet"}
_VALUES = {"values": "{fold}/hoi/values.parquet"}
_WEIGHTS = {"weights": "{fold}/hoi/weights.parquet"}
_SCORED = {**_VALUES, **_WEIGHTS, "columns": "columns.parquet"}  # of one job: the figures of them are one job, too
_CURVES = {"curves": "{fold}/hoi/curve.parquet"}

STUDY = Study(
    name="hoi2008",
    short="hoi",
    paper="Hoi and Jin 2008",
    idea="Learn weights of given rankers, and adapt them to the unlabelled documents of each query.",
    against="ser",
    section=f"{_ROOM}.settings:Hoi",
    methods=METHODS,
    run=run,
    steps=STEPS,
    measures=("letor4",),
    figures=(
        Output(
            f"{_ROOM}.figures:draw_methods",
            {"hoi-fig1": "Figure 1: MAP"},
            _MEASURES,
            said="SSER has the best MAP on OHSUMED. Ranking SVM follows, then SER, then the other learners.",
            claims=(
                "sser - ser*",
                "best MAP*",
                "ranksvm*",
                "ser - weak*",
                "*constant*",
                "bounds*",
                "eta*",
                "structure*",
                "tuned*",
            ),
            caption="MAP of all methods on the test queries with bootstrap intervals (left), and the paired "
            "difference of each from SER (right), on which the claims rest. Every learner is tuned on validation; of "
            "SSER only gamma is. SER and SSER are shown twice: with tied pairs counted 1/2, and with ties in file "
            "order. Hoi and Jin 2008, Figure 1.",
        ),
        Output(
            f"{_ROOM}.figures:draw_precision",
            {"hoi-fig2": "Figure 2: precision at 1 to 10"},
            _MEASURES,
            said="SSER has the best precision at ranks 1 and 2.",
            claims=("best at*", "ties"),
            caption="Precision at ranks 1 to 10 on the test queries (left; dashed: SER and SSER with ties in file "
            "order), and how much SSER gains on every other method at ranks 1 and 2, with its paired interval (right; "
            "light blue: ties in file order). Hoi and Jin 2008, Figure 2.",
        ),
        Output(
            f"{_ROOM}.figures:draw_gammas",
            {"hoi-fig3": "Figure 3: gamma"},
            _SCORED,
            said="MAP rises up to gamma = 0.5 or so, and falls beyond.",
            claims=("gamma*", "fixed*"),
            caption="MAP of SSER on the test queries against gamma, the weight of the query's own documents; gamma = "
            "0 is SER. The band is SER's value plus the interval of the difference from SER: where it contains the "
            "dashed line, SSER does not differ significantly. The vertical line is the fixed gamma, 0.5. The points "
            "of gamma are evenly spaced. Hoi and Jin 2008, Figure 3.",
        ),
        Output(
            f"{_ROOM}.figures:draw_weights",
            {"hoi-weights": "weights of the rankers"},
            _SCORED,
            said="Not in the paper: which rankers the ensembles use.",
            claims=("no weight", "gap"),
            caption="Share of each ranker in the sum of all weights: SER's in each fold, and the 5 to 95 % range of "
            "SSER's over the test queries with the fixed gamma, 0.5. Under w >= 0 most rankers have no weight. In the "
            "lower panel ties are in file order: rankers that are constant within every query then rank by file order "
            "and may get a weight. Not in the paper.",
        ),
        Output(
            f"{_ROOM}.figures:draw_sizes",
            {"hoi-curve": "number of training queries"},
            _CURVES,
            said="Not in the paper. Its motive is that unlabelled documents help most where labels are few.",
            claims=("few labels", "more with few"),
            caption="MAP on the test queries against the number of training queries (left; means over random "
            "subsets), and the paired difference from SER (right). Unlabelled documents should help most where labels "
            "are few: the paper's motive, which it does not test. All settings are fixed, because choosing them on "
            "validation would use labels. Not in the paper.",
        ),
    ),
    tables=(
        Output(
            f"{_ROOM}.tables:tabulate",
            {
                "hoi-methods": "methods",
                "hoi-folds": "methods by fold",
                "hoi-tests": "tests of Figure 1",
                "hoi-solver": "certificates of the programs",
            },
            {**_MEASURES, **_WEIGHTS, "choices": "{fold}/choices/hoi.parquet"},
            titles={"hoi-folds": "MAP by fold", "hoi-tests": "SER and SSER against the others, MAP"},
            caption={
                "hoi-methods": "All methods on the test queries: MAP, precision and NDCG, the difference from SER in "
                "MAP with its bootstrap interval and the p-value of the paired t test (uncorrected; the verdict is by "
                "Holm's p-value over this table), and the settings that validation chose in each fold. \"File "
                'order": ties in file order. The variants without constant rankers, without w >= 0, with eq. 13 as '
                "printed and with documents of another query are controls.",
                "hoi-folds": "MAP of all methods per fold, the mean of the folds, and the mean over all test queries.",
                "hoi-tests": "SER and SSER against each other and the other learners in MAP: difference with its "
                "bootstrap interval, three tests, the p-value of the t test corrected by Holm's method over the whole "
                "table, and the smallest detectable difference (power 0.8). A verdict needs enough queries that "
                "differ, and a bootstrap that agrees.",
                "hoi-solver": "Quadratic programs solved, all folds, with the largest relative duality gap and the "
                'largest residual of the optimality conditions. The weights of "eq. 13 as printed" are not the '
                "optimum; its certificates are those of the program whose multipliers it uses.",
            },
        ),
        Output(
            f"{_ROOM}.timing:tabulate",
            {"hoi-table3": "Table 3: training time"},
            {"judged": "judged.parquet"},
            ("hoi.scale",),
            titles={"hoi-table3": "training time in seconds, one thread"},
            caption="Training time in seconds of processor time on one thread of this machine: the shortest of three "
            "runs (hinge: one run), all in one job. SSER solves one program per test query; its time is that of SER "
            "plus that of all test queries of the fold. The paper's figures are means of five trials on OHSUMED; its "
            'ratios are to SVMstruct. "Times faster" is relative to our Ranking SVM with the hinge loss. Hoi and Jin '
            "2008, Table 3.",
        ),
    ),
    observations=Output(
        f"{_ROOM}.tables:gather",
        {"hoi-claims": "claims"},
        {**_MEASURES, **_VALUES, **_WEIGHTS, **_CURVES},
        caption="Claims of Hoi and Jin 2008, each under both rules for ties: what was expected, when it holds and "
        "when it fails (written before the numbers), the measured effect with its interval, and the verdict. Controls "
        "are comparisons that the paper lacks; checks must hold in any correct implementation. Claims about time are "
        "in Table 3.",
    ),
    claims=f"{_ROOM}.claims:declare",
    main="sser - ser",
    rankers={"ensemble": f"{_ROOM}.rankers:EnsembleRanker", "stacked": f"{_ROOM}.rankers:StackedRanker"},
    budget=("hoi.gammas", "hoi.tried_C", "hoi.tried_theta", "hoi.tried_delta"),
    timed=("hoi-table3",),
    kinds=("letor", "text", "simulated"),
)
