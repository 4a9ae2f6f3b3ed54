"""Published against ours: the files can be read, rows say what they should, samples are refused."""

from itertools import combinations
from math import sqrt
from pathlib import Path

import pytest

from qdrank.errors import InputError
from qdrank.evaluation.published import AGREES, agreement, compare_published, load_expected, right_method_nearest
from qdrank.evaluation.values import FoldMeans
from qdrank.learners import LEARNERS

TOY = """
dataset: toy
queries: 10
documents: 100
convention: letor4
bands: {ap: 0.01}
fold_bands: {ap: 0.02}
sources: {book: {text: a book, certainty: verified}}
figures:
  - {method: listnet, source: book, values: {ap: 0.5, p@1/letor4: 0.4}, folds: {ap: [0.45, 0.55]}}
  - {method: ranksvm, source: book, values: {ap: 0.53, p@1/letor4: 0.6}, note: not converged}
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.yaml"
    path.write_text(TOY)
    return path


def means(value):
    folds = {"fold1": 0.44, "fold2": 0.58} | {f"fold{i}": value for i in (3, 4, 5)}
    return FoldMeans(folds=folds, published=value, pooled=value)


def rows_of(toy, measured):
    return compare_published(load_expected(toy), measured, queries=10, documents=100)


def test_rows(toy):
    rows = rows_of(toy, {"listnet": {"ap": means(0.51), "p@1/letor4": means(0.45)}})
    assert [(r["method"], r["measure"], r["fold"], r["ours"], r["verdict"]) for r in rows] == [
        ("listnet", "ap", "mean", 0.51, "agrees"),
        ("listnet", "p@1/letor4", "mean", 0.45, "no band"),
        ("listnet", "ap", "fold1", 0.44, "agrees"),
        ("listnet", "ap", "fold2", 0.58, "differs"),
        ("ranksvm", "ap", "mean", None, "not measured"),
        ("ranksvm", "p@1/letor4", "mean", None, "not measured"),
    ]
    assert rows[0]["difference"] == pytest.approx(0.01)
    assert rows[-1]["note"] == "not converged"
    assert rows[0]["certainty"] == "verified"
    assert (rows[0]["nearest"], rows[0]["methods"], rows[0]["others in the band"]) == (["listnet"], 2, 0)


def test_within_the_band_but_nearer_to_another_method(toy):
    toy.write_text(TOY.replace("bands: {ap: 0.01}", "bands: {ap: 0.03}", 1))
    row = rows_of(toy, {"listnet": {"ap": means(0.52)}})[0]
    assert (row["verdict"], row["nearest"], row["others in the band"]) == ("nearer to another method", ["ranksvm"], 1)


def test_the_right_method_is_counted_and_a_tie_shared(toy):
    found = {"listnet": {"ap": means(0.49), "p@1/letor4": means(0.5)}, "ranksvm": {"ap": means(0.5)}}
    counted = right_method_nearest(rows_of(toy, found))
    assert (counted.right, counted.figures, counted.chance) == (1.5, 3, 1.5)  # right, tied, wrong
    assert counted.text == "right method nearest in 1.5 of 3 (50%, by chance 50%)"


def test_a_method_that_the_source_does_not_speak_of_is_not_counted(toy):
    toy.write_text(TOY.replace("note: not converged", "counts: false"))
    rows = rows_of(toy, {"listnet": {"ap": means(0.53)}, "ranksvm": {"ap": means(0.53)}})
    assert rows[0]["nearest"] is None
    assert right_method_nearest(rows).figures == 0


def test_methods_of_sources_that_belong_together_are_told_apart(toy):
    text = TOY.replace(
        "{book: {text: a book, certainty: verified}}",
        """
  book: {text: a book, certainty: verified}
  reprint: {text: a reprint, certainty: verified, together: book}""",
    )
    toy.write_text(text.replace("ranksvm, source: book", "ranksvm, source: reprint"))
    rows = rows_of(toy, {"ranksvm": {"ap": means(0.505)}})
    assert next(row for row in rows if row["ours"])["nearest"] == ["listnet"]


def test_a_method_without_choices_must_come_out_to_the_last_digit(toy):
    toy.write_text(TOY.replace("note: not converged", "exact: true"))
    for value, expected in ((0.53004, "agrees"), (0.5303, "differs")):
        row = next(r for r in rows_of(toy, {"ranksvm": {"ap": means(value)}}) if r["ours"])
        assert row["verdict"] == expected


def test_a_sample_is_never_compared(toy):
    with pytest.raises(InputError, match="of 10 queries and 100 documents, these data have 8 and 85"):
        compare_published(load_expected(toy), {}, queries=8, documents=85)


@pytest.mark.parametrize(
    ("difference", "expected"), [(0.01, "agrees"), (-0.01004, "agrees"), (0.0102, "differs"), (None, "not measured")]
)
def test_verdict(difference, expected):
    assert agreement(difference, 0.01) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("source: book, values", "source: bok, values"),
        ("certainty: verified", "certainty: verified, together: bok"),
        ("ap: 0.5, p@1", "ap: 0.5, q@1"),
        ("dataset", "datset"),
        ("ap: 0.01", "ap: ["),
    ],
)
def test_mistakes_are_named(toy, old, new):
    toy.write_text(TOY.replace(old, new))
    with pytest.raises(InputError, match="cannot be read"):
        load_expected(toy)


def test_the_shipped_figures_are_sound(project):
    files = sorted((project / "resources" / "expected").glob("*.yaml"))
    assert {file.stem for file in files} >= {"mq2007", "mq2008", "ohsumed", "mq2007-agg", "mq2008-agg"}
    for file in files:
        expected = load_expected(file)
        assert expected.dataset == file.stem
        for figures in expected.figures:
            assert figures.method.removesuffix("-high") in LEARNERS
            assert all(0 < value < 1 for value in figures.values.values())
            for name, folds in figures.folds.items():
                assert sum(folds) / len(folds) == pytest.approx(figures.values[name], abs=1.1e-4)


def shipped(project):
    return [load_expected(path) for path in sorted((project / "resources" / "expected").glob("*.yaml"))]


def as_measured(figures):
    """Figures as if we had measured them."""
    whole = {name: [value] * 5 for name, value in figures.values.items()} | figures.folds
    return {
        name: FoldMeans({f"fold{i + 1}": v for i, v in enumerate(folds)}, figures.values[name], figures.values[name])
        for name, folds in whole.items()
    }


def test_the_figures_of_another_method_are_refused(project):
    """Each method's published figures, handed in as those of another: no mean agrees, unless the two are equal."""
    for expected in shipped(project):
        size = {"queries": expected.queries, "documents": expected.documents}
        for one, other in combinations([f for f in expected.figures if f.counts], 2):
            if one.method == other.method or expected.compared_with(one.source) != expected.compared_with(other.source):
                continue
            rows = compare_published(expected, {one.method: as_measured(other)}, **size)
            own = [r for r in rows if r["source"] == one.source and r["nearest"] and r["published"] != r["ours"]]
            own = [r for r in own if r["measure"] in (other.values if r["fold"] == "mean" else other.folds)]
            assert not [r for r in own if r["verdict"] == AGREES]
            if own:
                assert right_method_nearest(own).right == 0


def test_a_method_s_own_figures_agree(project):
    for expected in shipped(project):
        size = {"queries": expected.queries, "documents": expected.documents}
        for figures in (f for f in expected.figures if f.counts):
            rows = compare_published(expected, {figures.method: as_measured(figures)}, **size)
            own = [row for row in rows if row["source"] == figures.source and row["ours"] is not None]
            assert {row["verdict"] for row in own} <= {"agrees", "no band"}
            assert all(row["nearest"] is None or figures.method in row["nearest"] for row in own)


@pytest.mark.parametrize("name", ["mq2007", "mq2008", "ohsumed"])
def test_bands_are_the_spread_between_runs_of_one_method(project, name):
    """Twice the root mean square difference, of converged runs to four digits; AP of the LETOR 4.0 sets is narrower still."""
    expected = load_expected(project / "resources" / "expected" / f"{name}.yaml")
    runs: dict[tuple[str, str], list[float]] = {}
    for figures in expected.figures:
        if "converged" not in figures.note and figures.source != "liu-book":
            for measure, value in figures.values.items():
                runs.setdefault((measure, figures.method), []).append(value)
    for measure, band in expected.bands.items():
        apart = [a - b for (own, _), values in runs.items() if own == measure for a, b in combinations(values, 2)]
        spread = 2 * sqrt(sum(x * x for x in apart) / len(apart))
        assert len(apart) >= 3
        assert band == pytest.approx(spread, abs=6e-5) or (measure == "ap" and abs(band - spread) < 0.0014)
