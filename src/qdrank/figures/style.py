"""One style for every figure, and one way of saving it: the same bytes for the same picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qdrank.registry import needed
from qdrank.store import atomic_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEXT_WIDTH = 6.5  # inches

_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "savefig.facecolor": "white",
    # Ids in SVG are hashed with a random salt unless one is given.
    "svg.hashsalt": "qdrank",
    # Hinted letters are wider or narrower at other resolutions than that of the layout.
    "text.hinting": "none",
}
# No date, no version of the library: they would change the bytes from run to run.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def new_figure(rows: int = 1, columns: int = 1, *, height: float = 3.0, **options: Any) -> tuple[Figure, Any]:
    """A figure of the text's width and its axes, as from ``plt.subplots``."""
    mpl = needed("matplotlib", "workflow")

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update(_STYLE)
    return plt.subplots(rows, columns, figsize=(TEXT_WIDTH, height), **options)


def save_figure(figure: Figure, paths: Mapping[str, str | Path], *, dpi: int = 150) -> None:
    """Save ``figure`` under each path; the suffix decides the format."""
    import matplotlib.pyplot as plt

    _wrap_titles(figure)
    _settle(figure)
    for path in map(Path, paths.values()):
        # Drawn in memory: on a full disk matplotlib's writer of PDF fails a second time, and hides why.
        drawn = BytesIO()
        figure.savefig(drawn, format=path.suffix[1:], dpi=dpi, metadata=_METADATA[path.suffix[1:]])
        with atomic_path(path) as partial:
            partial.write_bytes(drawn.getbuffer())
    plt.close(figure)


def _wrap_titles(figure: Figure) -> None:
    """Break titles that are wider than their place: a data set's title may be long."""
    figure.draw_without_rendering()
    places = [(axes.title, _title_room(figure, axes)) for axes in figure.axes]
    places += [(text, 0.96 * figure.bbox.width) for text in figure.texts if text.get_text() == figure.get_suptitle()]
    for title, room in places:
        width = title.get_window_extent().width
        if width > room:
            lines = title.get_text().split("\n")
            most = max(int(max(map(len, lines)) * room / width), 12)
            title.set_text("\n".join(textwrap.fill(line, most, break_long_words=False) for line in lines))


def _title_room(figure: Figure, axes: Axes) -> float:
    """Pixels for the title of ``axes``, which is centred above it: to the edge of the figure, or its own panel's width."""
    box, cells = axes.bbox, axes.get_subplotspec()
    centre = (box.x0 + box.x1) / 2
    to_edge = 2 * min(centre, figure.bbox.width - centre)
    return float(to_edge if cells is None or cells.get_gridspec().ncols == 1 else min(to_edge, 1.1 * box.width))


def _settle(figure: Figure) -> None:
    """Lay out ``figure`` once, and round the positions of its parts and axes.

    The solver behind the layout goes through its constraints in the order of their addresses in memory. So the last bits of
    a position change from run to run, and with them the ids in SVG, which are hashed from positions.
    """
    from matplotlib.transforms import Bbox

    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for subfigure in figure.subfigs:
        subfigure.bbox_relative.set_points(subfigure.bbox_relative.get_points().round(9))
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(9)))


def say_instead(title: str, words: str) -> Figure:
    """A figure that says why there is nothing to draw."""
    figure, axes = new_figure(height=1.2)
    axes.axis("off")
    axes.text(0.5, 0.4, words, ha="center")
    axes.set_title(title)
    return figure


def error_bars(middle: Any, low: Any, high: Any) -> Any:
    """Lengths of error bars below and above ``middle``, (2, n), for ``Axes.errorbar``; never negative."""
    return np.stack([np.subtract(middle, low), np.subtract(high, middle)]).clip(0)


def in_doubt(lacks: Iterable[str]) -> str:
    """Second line of a title: what is said of grey, open marks; nothing if there are none.

    ``lacks`` are the reasons of all marks (`qdrank.evaluation.estimates.doubt`), empty for those that stand.
    """
    reasons = dict.fromkeys(one.partition(":")[0] for one in lacks if one)
    return f"\ngrey, open: says nothing ({'; '.join(reasons)})" if reasons else ""


def add_to_title(figure: Figure, words: str) -> None:
    """Put ``words`` below the title of ``figure``, or of its first panel if it has none."""
    titles = [text for text in figure.texts if text.get_text() and text.get_text() == figure.get_suptitle()]
    title = (titles or [figure.axes[0].title])[0]
    title.set_text(f"{title.get_text()}\n{words}")


def label_axes(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Name the axes, and the panel if it has a title."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title)
