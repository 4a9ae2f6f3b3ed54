"""The methods of the study, from single runs to weights that depend on the query, each of the latter with its control."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from qdrank.figures.palette import BLACK, BLUE, GREEN, GREY, MARKERS, ORANGE, PURPLE, SKY, VERMILION
from qdrank.studies.study import Method

FIXED, RRF, BEST, CHOSEN = "hybrid-fixed", "hybrid-rrf", "hybrid-best-run", "hybrid-chosen"
SPLIT = "hybrid-split"
TREES, TREES_QUERIES, EVIDENCE = "hybrid-lambdamart", "hybrid-lambdamart-queries", "hybrid-evidence"
SSER = "hybrid-sser"
PREDICTED_TREES, SELECT, TRANSFORM = "hybrid-trees", "hybrid-selectranker", "hybrid-transform"
#: Measure used for tuning and for comparisons.
MEASURE = "ndcg@10/linear"
#: Methods that give each query weights of its own: validation chooses one of them.
PER_QUERY = ("hybrid-neighbours", "hybrid-ridge", PREDICTED_TREES, "hybrid-margin", "hybrid-select")
#: Rankers of other studies that methods are made of, as files name them.
BORROWED = ("clusters", "ensemble")
#: What methods see, unless it is documents as they are, with the vectors of their queries: documents as linear learners see
#: them, predictors for vectors, and only the first documents of the runs to learn from.
LINEAR, PREDICTED, FIRST, FIRST_PREDICTED = "linear", "predicted", "first", "first, predicted"


def _of(make: str, **given: Any) -> Callable[[Any], Any]:
    """The rankers to try that a function of the options makes."""
    return lambda run: getattr(run.options, make)(run, **given)


def _papers(name: str, label: str, marker: str, make: str, refitted: bool = False) -> Method:
    return Method(name, label, VERMILION, marker, models="papers", refitted=refitted, tries=_of(make))


METHODS = (
    Method(BEST, "best single run", GREY, MARKERS[0], tries=_of("alone")),
    Method(RRF, "RRF", GREY, MARKERS[1], tries=_of("fused", method="rrf")),
    Method("hybrid-combsum", "CombSUM", GREY, MARKERS[2], tries=_of("fused", method="combsum")),
    Method("hybrid-combmnz", "CombMNZ", GREY, MARKERS[3], tries=_of("fused", method="combmnz")),
    Method(FIXED, "tuned fixed weights", BLACK, MARKERS[0], tries=_of("fixed")),
    Method(SPLIT, "two fixed weights, by the length of the lists", BLACK, MARKERS[1], tries=_of("split")),
    Method("hybrid-neighbours", "weights of the nearest judged queries", BLUE, MARKERS[0], tries=_of("neighbours")),
    Method("hybrid-ridge", "weights by predictors, ridge", SKY, MARKERS[1], sees=PREDICTED, tries=_of("ridge")),
    Method(
        PREDICTED_TREES,
        "weights by predictors, trees",
        SKY,
        MARKERS[2],
        sees=PREDICTED,
        refitted=True,
        tries=_of("trees"),
    ),
    Method("hybrid-margin", "margin rule", BLUE, MARKERS[3], tries=_of("margin")),
    Method(
        "hybrid-select", "better run by predictors", BLUE, MARKERS[4], sees=PREDICTED, tries=_of("ridge", single=True)
    ),
    Method(
        CHOSEN,
        "weights per query, chosen on validation",
        PURPLE,
        MARKERS[7],
        refitted=True,
        same_as=lambda run: run.best(PER_QUERY),
    ),
    Method("hybrid-linear", "Ranking SVM on all columns", GREEN, MARKERS[0], sees=LINEAR, tries=_of("linear")),
    Method(TREES, "LambdaMART on all columns", GREEN, MARKERS[1], sees=FIRST, refitted=True, tries=_of("lambdamart")),
    Method(
        TREES_QUERIES,
        "LambdaMART with predictors",
        GREEN,
        MARKERS[2],
        sees=FIRST_PREDICTED,
        refitted=True,
        tries=_of("lambdamart", queries=True),
    ),
    Method(
        EVIDENCE,
        "Ranking SVM with judgments of similar queries",
        ORANGE,
        MARKERS[0],
        sees=LINEAR,
        tries=_of("evidence"),
    ),
    _papers("hybrid-local", "local Ranking SVM", MARKERS[1], "local_models"),
    _papers("hybrid-ser", "SER", MARKERS[2], "ensembles"),
    _papers("hybrid-atvt", "aTVT", MARKERS[3], "atvt"),
    _papers("hybrid-gate", "weights linear in the query vector", MARKERS[4], "gate"),
    _papers(SSER, "SSER", MARKERS[5], "semi_supervised_ensembles"),
    _papers(SELECT, "SelectRanker", MARKERS[6], "select", refitted=True),
    _papers(TRANSFORM, "Transform", MARKERS[7], "transform", refitted=True),
)
_METHOD = {method.name: method for method in METHODS}


def _control(method: str, label: str, tries: Callable[[Any], Any] | None = None, refitted: bool = True) -> Method:
    """The control of a method: what it tries, with predictors or vectors of another query, unless ``tries`` says otherwise."""
    of = _METHOD[method]

    def of_others(run: Any) -> Any:
        assert of.tries is not None
        return run.options.of_others(of.tries(run), run.seed)

    return Method(label, label, GREY, ".", sees=of.sees, refitted=refitted, tries=tries or of_others, control_of=method)


_CONTROLS = (
    _control("hybrid-neighbours", "weights of random judged queries", _of("neighbours", random=True)),
    _control("hybrid-ridge", "ridge, predictors of another query"),
    _control(PREDICTED_TREES, "trees, predictors of another query"),
    _control("hybrid-margin", "margins of another query", _of("margin", others=True)),
    _control("hybrid-select", "better run, predictors of another query"),
    _control(TREES_QUERIES, "LambdaMART, predictors of another query"),
    _control(EVIDENCE, "Ranking SVM with the document's prior", _of("evidence", prior=True), refitted=False),
    _control("hybrid-local", "local Ranking SVM, random training queries", _of("local_models", random=True)),
    _control("hybrid-gate", "gate, vectors of other queries"),
    _control(SSER, "SSER, documents of another query", _of("semi_supervised_ensembles", others=True)),
    _control(SELECT, "SelectRanker, random clusters", _of("select", random=True)),
    _control(TRANSFORM, "Transform, random clusters", _of("transform", random=True)),
)
#: From each method to its control, which has the same settings to choose from and knows nothing of the query.
CONTROLS = {control.control_of: control.name for control in _CONTROLS}
#: Control of the method that validation chose: that method's own.
OF_CHOSEN = "control of the chosen method"
#: Everything that is run on a fold, in order.
ALL = (
    *METHODS,
    *_CONTROLS,
    Method(
        OF_CHOSEN,
        OF_CHOSEN,
        GREY,
        ".",
        refitted=True,
        same_as=lambda run: CONTROLS[run.same[CHOSEN]],
        control_of=CHOSEN,
    ),
)
BY_NAME = {method.name: method for method in ALL}
#: Methods of the papers that this project reproduces.
PAPERS = tuple(method.name for method in METHODS if method.models == "papers")
#: The most runs whose weights are drawn, and the groups of queries by the run's margin.
MOST_RUNS = 4
GROUPS = ("low", "middle", "high")
#: Methods of the learning curve.
LEARNED = (FIXED, "hybrid-neighbours", "hybrid-ridge")
#: The oracle, as it is called.
ORACLE = "oracle over the weights"


class Form(NamedTuple):
    """How noise rankings are made: form of the noise, distance that is matched, factor on the matched size."""

    noise: Literal["runs", "jitter", "shuffled"]
    distance: Literal["overlap by rank", "first ten"]
    factor: float

    @property
    def text(self) -> str:
        """What its oracle is called."""
        times = "" if self.factor == 1 else f", times {self.factor:g}"
        return f"noise: {self.noise}, {self.distance}{times}"


DECLARED = Form("runs", "overlap by rank", 1.0)
SENSITIVITY = (
    Form("runs", "first ten", 1.0),
    Form("jitter", "overlap by rank", 1.0),
    Form("shuffled", "overlap by rank", 1.0),
    Form("runs", "overlap by rank", 0.5),
    Form("runs", "overlap by rank", 2.0),
)


def run(section: Any) -> list[str]:
    """Methods to run; ``section`` is ``hybrid`` of the configuration."""
    left_out = set() if section.semi_supervised else {SSER}
    names = [method.name for method in METHODS if section.papers or method.models != "papers"]
    return [name for name in names if name not in left_out]
