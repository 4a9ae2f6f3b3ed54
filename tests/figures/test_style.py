"""One way of saving figures: nothing that is written on them is cut."""

import itertools

import matplotlib.pyplot as plt
import pytest

from qdrank.figures.style import new_figure, save_figure

LONG = "A data set whose title is long, normalised within queries (QueryLevelNorm): the number of neighbours by class"


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_long_titles_are_broken_and_stay_inside(columns, tmp_path, monkeypatch):
    monkeypatch.setattr(plt, "close", lambda _: None)
    figure, panels = new_figure(1, columns, squeeze=False)
    figure.suptitle(f"{LONG}\nand a second line")
    for axes in panels[0]:
        axes.set_title(LONG)
    save_figure(figure, {"svg": tmp_path / "a.svg"})
    titles = [*figure.texts, *(axes.title for axes in panels[0])]
    for title in titles:
        box = title.get_window_extent()
        assert 0 <= box.x0 <= box.x1 <= figure.bbox.width
        assert title.get_text().replace("\n", " ").removesuffix(" and a second line") == LONG
    edges = [axes.title.get_window_extent() for axes in panels[0]]
    assert all(left.x1 <= right.x0 for left, right in itertools.pairwise(edges))


def test_short_titles_are_left_alone(tmp_path):
    figure, axes = new_figure()
    axes.set_title("short")
    save_figure(figure, {"svg": tmp_path / "a.svg"})
    assert axes.get_title() == "short"
