"""Nobody but `qdrank.learners.choose` chooses on validation: who measures, and who takes a largest value, is listed with a reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from qdrank.studies import STUDIES
from tests.choosers import Unit, callers, measuring, measuring_without_choice, taking_largest, units

CHECKED = ("qdrank.learners.", "qdrank.aggregators.", "qdrank.rankers.", "qdrank.studies.", "scripts.")

TEST_QUERIES = "measures test queries, for a table or a figure"
TRAINING_QUERIES = "measures training queries, as its algorithm says"
#: Functions that measure documents which they name themselves, none of them to choose by.
ENDS = {
    "qdrank.learners.classic.adarank.AdaRank.fit": TRAINING_QUERIES,
    "qdrank.studies.beyond.checks.without_near": TEST_QUERIES,
    "qdrank.studies.beyond.fold.control_values": TEST_QUERIES,
    "qdrank.studies.beyond.retrieval.values_of": TEST_QUERIES,
    "qdrank.studies.beyond.learned.learned_values": TEST_QUERIES,
    "qdrank.studies.hybrid.curves.weight_curves": TEST_QUERIES,
    "qdrank.studies.hybrid.fold.Methods.values_of": TEST_QUERIES,
    "qdrank.studies.hybrid.oracle.Oracles._judgements": TEST_QUERIES,
    "qdrank.studies.hybrid.oracle.Oracles._value": TEST_QUERIES,
    "qdrank.studies.geng2008.fold._measuring": TEST_QUERIES + "; validation queries through ValidationQueries",
    "qdrank.studies.geng2008.variants._measured": TEST_QUERIES,
    "qdrank.studies.hoi2008.learning_curve._table": TEST_QUERIES,
    "qdrank.studies.hoi2008.scoring._swept_test": TEST_QUERIES,
    "qdrank.studies.lin2011.fold.LocalScores.members": TRAINING_QUERIES,
    "qdrank.studies.lin2011.sweep._aps": TEST_QUERIES,
    "qdrank.studies.lin2011.sweep._measured": TEST_QUERIES,
    "qdrank.studies.lin2011.sweep._test_aps": TEST_QUERIES,
    "qdrank.studies.lin2011.sweep.curves": TEST_QUERIES,
    "qdrank.studies.lin2011.variants._measured": TEST_QUERIES,
    "qdrank.studies.zha2006.fold._cells_table": TEST_QUERIES,
    "qdrank.studies.zha2006.fold._map_rows": TEST_QUERIES + ", and training queries beside them",
    "qdrank.studies.zha2006.kernel.kernel_values": TEST_QUERIES,
    "qdrank.studies.zha2006.pairwise.run_pairwise": TEST_QUERIES,
}
#: Helpers that measure what they are given: their callers are looked at, too.
HELPERS = {
    "qdrank.studies.beyond.choosing.measured",
    "qdrank.rankers.tuning.query_values_of",
    "qdrank.studies.lin2011.fold.LocalScores.ap",
    "qdrank.studies.lin2011.fold.LocalScores.ap_of",
    "qdrank.studies.lin2011.fold.Role.ap",
    "qdrank.studies.zha2006.data.FoldData.reported",
}
#: Functions that others than their module call, and who does.
CALLERS = {
    ("qdrank.studies.beyond.fitting.write_values", "qdrank.studies.beyond.checks.without_near"),
    ("qdrank.studies.beyond.fitting.write_values", "qdrank.studies.beyond.fold.control_values"),
    ("qdrank.studies.beyond.retrieval._learners", "qdrank.studies.beyond.learned.learned_values"),
    ("qdrank.studies.hybrid.writing._write_shown", "qdrank.studies.hybrid.curves.weight_curves"),
    ("qdrank.studies.lin2011.scoring.write_scores", "qdrank.studies.lin2011.sweep.curves"),
    ("qdrank.studies.zha2006.regressor.learn_pairwise", "qdrank.studies.zha2006.pairwise.run_pairwise"),
}
#: Modules that make `ValidationQueries` for others, which choose.
FOR_OTHERS = {
    "qdrank.learners.base",
    "qdrank.learners.classic.trees",
    "qdrank.studies.lin2011.fold",
    "qdrank.studies.zha2006.data",
}
#: Functions that take a largest value which is no measure on validation.
LARGEST = {
    "qdrank.aggregators.cps_kernels.stagewise": "the next document of an order",
    "qdrank.commands.advise._rounded": "where rounding is made up for",
    "qdrank.datasets.columns.reference_column": "the one column that is marked",
    "qdrank.datasets.importing.best_feature": "the reference of data that name none, on training queries, tied rows shuffled",
    "qdrank.datasets.letor.quick._Tokens.names": "whether a name is empty",
    "qdrank.evaluation.published._nearest": "the nearest published figure",
    "qdrank.evaluation.verdicts.decide_by_estimates": "the contrast that decides a claim",
    "qdrank.learners.atvt.maps.fit_l1": "the least of a query's objective",
    "qdrank.learners.ranksvm.preconditioning.decide": "the cheapest way to solve",
    "qdrank.queries.clusters._two_nearest": "the nearest centre",
    "qdrank.queries.clusters.nearest_centre": "the nearest centre",
    "qdrank.studies.geng2008.query_types.TypeClassifier.predict": "the likeliest type",
    "qdrank.queries.vectors.PrincipalComponents.fit": "the sign of a direction",
    "qdrank.rankers.knn._best": "the nearest query",
    "qdrank.rankers.lookup.Offline1.best": "the nearest query, or the most alike",
    "qdrank.rankers.run_weights.PredictedWeights._learn": "settings of one run alone",
    "qdrank.serving.export.texts.without_slack": "the largest sum below a threshold",
    "qdrank.studies.geng2008.across._places": "the number of neighbours next to the paper's",
    "qdrank.studies.geng2008.observations._place": "the number of neighbours next to the paper's",
    "qdrank.studies.lin2011.controls.matched": "the size of a perturbation that matches best",
    "qdrank.text.topics.latent_space": "the sign of a direction",
    "qdrank.workflow.recorded.seen_from": "the shorter path",
    "qdrank.learners.classic.adarank.AdaRank.fit": "the feature of a round, on training queries",
    "qdrank.learners.ranksvm.blocks._halved": "the sign of a direction",
    "qdrank.rankers.bilinear.principal_map": "the sign of a direction",
    "qdrank.rankers.run_weights.best_settings": "the setting of a query, by curves of training queries",
    "qdrank.studies.lin2011.observations._against_aggregators": "the best aggregator on the test queries, as the claim says",
    "qdrank.studies.lin2011.representations.majority": "the cluster with most votes",
}


def checked(paths: set[str]) -> set[str]:
    return {path for path in paths if path.startswith(CHECKED)}


@pytest.fixture(scope="module")
def every_unit(project: Path) -> list[Unit]:
    scripts = [unit for study in STUDIES for unit in units(project / "scripts" / study, "scripts")]
    return [*units(project / "src" / "qdrank"), *scripts]


def test_only_listed_functions_measure(every_unit: list[Unit]) -> None:
    """To choose a setting, take `ValidationQueries` and `choose`; to report a measure, list the function and the reason."""
    assert checked(measuring(every_unit, ENDS)) == {*ENDS, *HELPERS}


def test_only_listed_functions_take_a_largest_value(every_unit: list[Unit]) -> None:
    """To choose a setting, take `choose`; for another largest value, in any room, list the function and the reason."""
    assert taking_largest(every_unit) == set(LARGEST)


def test_what_measures_test_queries_is_not_called_for_others(every_unit: list[Unit]) -> None:
    assert callers(every_unit, ENDS) == CALLERS


def test_who_makes_validation_queries_chooses_or_makes_them_for_others(every_unit: list[Unit]) -> None:
    assert measuring_without_choice(every_unit) == FOR_OTHERS


NINTH = """
import heapq
from importlib import import_module

import numpy as np
import qdrank.measures.compute as values_of
from qdrank.learners.choose import ValidationQueries, choose
from qdrank.measures.compute import measure as looked_at
from qdrank.rankers.tuning import query_values_of as helper
from qdrank.studies.hoi2008.scoring import _swept_test
from qdrank.studies.lin2011.fold import Role

from ...measures.compute import measure as near


def alias(part, tried):
    best, value = None, -1
    for setting, scores in tried:
        own = looked_at(["ap"], part.y, scores, part.offsets)["ap"].mean()
        if own > value:
            best, value = setting, own
    return best


def module(part, tried):
    return sorted((values_of.average_precision(part.y, s, part.offsets).mean(), k) for k, s in tried)[-1][1]


def late(part, scores):
    from qdrank.measures.ranking import Judgements

    return Judgements(part.y, part.offsets).ranked(scores)


def helped(part, tried):
    return sorted(tried, key=lambda one: -helper("ap", part, one[1]).mean())[0]


def two_steps(part, tried):
    return helped(part, tried)


def room_above(part, tried):
    from qdrank.evaluation.measuring import measures_table

    return [measures_table(["ap"], part, s, ["x"], "fold1") for s in tried]


def stored(sweep):
    return int(np.argmax(sweep["ap"]))


def keyed(sweep):
    return max(sweep, key=sweep.get)


def least(sweep):
    return min(sweep, key=lambda name: -sweep[name])


def pairs(sweep):
    return max((value, name) for name, value in sweep.items())[1]


def turned(values):
    return int(np.argmin(-values))


def last_of_order(values):
    return int(np.argsort(values)[-1])


def last_of_sorted(sweep):
    return sorted(sweep, key=sweep.get)[-1]


def where(values):
    return int(np.flatnonzero(values == values.max())[0])


def few(sweep):
    return heapq.nlargest(1, sweep)


def by_text(part, tried):
    average_precision = import_module("qdrank.measures.compute").average_precision
    return [average_precision(part.y, scores, part.offsets).mean() for scores in tried]


def by_dots(part, tried):
    return [near(["ap"], part.y, scores, part.offsets)["ap"].mean() for scores in tried]


def by_learner(part, learners):
    return [learner.score(part.X, part.y) for learner in learners]


def through_a_table(data, part, tried):
    return [_swept_test(data, part, scores) for scores in tried]


def as_it_should_be(part, tried):
    queries = ValidationQueries.of(part, measure="ap", seed=1)
    return choose((setting, queries.values(scores)) for setting, scores in tried).chosen
"""
ALONE = """
from qdrank.learners.choose import ValidationQueries


def first_above(part, tried):
    queries = ValidationQueries.of(part, measure="p@1", seed=1)
    best = None
    for setting, scores in tried:
        if best is None or queries.mean(scores) > best[0]:
            best = queries.mean(scores), setting
    return best
"""
METHOD = """
def by_method(role, tried):
    return sorted(tried, key=lambda one: -role.ap(one[1]).mean())[0]
"""


@pytest.fixture(scope="module")
def planted(project: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Unit]:
    """The library with choosers of its own in two studies."""
    source = tmp_path_factory.mktemp("planted") / "qdrank"
    shutil.copytree(project / "src" / "qdrank", source, ignore=shutil.ignore_patterns("__pycache__", "*.html", "*.js"))
    (source / "studies" / "hoi2008" / "ninth.py").write_text(NINTH)
    (source / "studies" / "lin2011" / "ninth.py").write_text(METHOD)
    (source / "studies" / "zha2006" / "ninth.py").write_text(ALONE)
    return units(source)


def test_a_ninth_chooser_is_found_however_it_measures(planted: list[Unit]) -> None:
    found = {path for path in measuring(planted, ENDS) if ".ninth." in path}
    ways = ("alias", "module", "late", "helped", "two_steps", "room_above", "by_text", "by_dots", "by_learner")
    assert found == {
        *(f"qdrank.studies.hoi2008.ninth.{way}" for way in ways),
        "qdrank.studies.lin2011.ninth.by_method",
    }


def test_a_ninth_chooser_of_stored_values_is_found(planted: list[Unit]) -> None:
    found = {path for path in taking_largest(planted) if ".ninth." in path}
    ways = ("stored", "keyed", "least", "pairs", "turned", "last_of_order", "last_of_sorted", "where", "few")
    seen_twice = ("module", "helped")
    assert found == {
        *(f"qdrank.studies.hoi2008.ninth.{way}" for way in (*ways, *seen_twice)),
        "qdrank.studies.lin2011.ninth.by_method",
    }


def test_a_ninth_chooser_by_what_others_measure_is_found(planted: list[Unit]) -> None:
    found = {path for path, _ in callers(planted, ENDS) - CALLERS}
    assert found == {"qdrank.studies.hoi2008.ninth.through_a_table"}
    assert measuring_without_choice(planted) - FOR_OTHERS == {"qdrank.studies.zha2006.ninth"}
