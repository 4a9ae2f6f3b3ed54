"""The first page in a browser: it loads without a complaint, asks for nothing, and answers clicks."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from qdrank.evaluation.deciding import verdicts_table
from qdrank.evaluation.declared import HOLDS
from qdrank.figures.tables import write_table
from qdrank.figures.verdicts import FOLDED, readable, verdicts_overview
from tests.pages.browser import Browser, browser, installed
from tests.pages.made import made_page, row

pytestmark = pytest.mark.skipif(installed() is None, reason="no Chromium here (on Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "index.html").write_text(made_page(folder, vl_convert.javascript_bundle(), n=400), encoding="utf-8")
    return folder / "index.html"


@pytest.fixture(scope="module")
def shown(page: Path) -> Iterator[Browser]:
    with browser() as one:
        yield one


@pytest.fixture(params=[1400, pytest.param(400, marks=pytest.mark.full)], ids=["wide", "narrow"])
def opened(request: pytest.FixtureRequest, shown: Browser, page: Path) -> Browser:
    shown.problems.clear()
    shown.requests.clear()
    shown.open(page, width=request.param)
    return shown


def with_map(opened: Browser) -> Browser:
    opened.run("document.getElementById('map').scrollIntoView()")
    opened.wait(
        "document.querySelector('#map-about h4') !== null && document.querySelector('#map-view canvas') !== null"
    )
    return opened


def test_it_loads_asks_for_nothing_and_fits(opened: Browser, page: Path) -> None:
    with_map(opened)
    opened.run("document.querySelector('.row img[data-id]').scrollIntoView()")
    opened.wait(UNPACKED)
    assert opened.problems == []
    assert [url for url in opened.requests if not url.startswith(("blob:", "data:"))] == [page.resolve().as_uri()]
    assert opened.run("document.documentElement.scrollWidth <= innerWidth")


UNPACKED = "[...document.querySelectorAll('img[data-id]')].every((image) => image.complete && image.naturalWidth > 0)"


def test_figures_are_unpacked_when_idle_without_scrolling(opened: Browser) -> None:
    opened.wait(UNPACKED)
    assert opened.run("scrollY") == 0


def printed_map(shown: Browser) -> str:
    shown.call("Emulation.setEmulatedMedia", media="print")
    how = str(shown.run("getComputedStyle(document.getElementById('map')).display"))
    shown.call("Emulation.setEmulatedMedia", media="")
    return how


def test_a_map_that_was_drawn_is_printed(opened: Browser) -> None:
    assert printed_map(with_map(opened)) == "block"


def test_what_is_folded_is_printed(opened: Browser) -> None:
    folded = "[...document.querySelectorAll('details:not([open]) > :not(summary)')]"
    seen = f"{folded}.filter((element) => element.checkVisibility()).length"
    assert opened.run(seen) == 0
    opened.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert opened.run(seen) == opened.run(f"{folded}.length") > 0
    finally:
        opened.call("Emulation.setEmulatedMedia", media="")


def test_printing_unpacks_every_figure(shown: Browser, page: Path) -> None:
    """Where the browser was never idle; what is unpacked too late for one print is there for the next."""
    script = "window.requestIdleCallback = () => 0; window.IntersectionObserver = class { observe() {} unobserve() {} disconnect() {} }"
    added = shown.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    try:
        shown.open(page, width=1400)
        assert not shown.run(UNPACKED)
        assert printed_map(shown) == "none"  # an empty frame is not printed
        shown.call("Page.printToPDF")
        shown.wait(UNPACKED)
        assert len(base64.b64decode(shown.call("Page.printToPDF")["data"])) > 10_000
    finally:
        shown.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_tables_of_claims_fit_a_window_of_1400_pixels(shown: Browser, tmp_path: Path) -> None:
    names = [f"data set of number {i}" for i in range(12)]
    texts = ("KNN Offline-2 beats Single, both with the paper's lambda and k/m = 0.27", "short")
    rows = [row(f"{text} {i}", name, HOLDS, text=text) for i, text in enumerate(texts) for name in names]
    verdicts = verdicts_table(rows)
    write_table(readable(verdicts), {"html": tmp_path / "claims.html"}, title="Claims", folded=FOLDED)
    write_table(verdicts_overview(verdicts), {"html": tmp_path / "overview.html"}, title="Claims at a glance")
    for name in ("claims", "overview"):
        shown.open(tmp_path / f"{name}.html", width=1400)
        assert shown.run("document.documentElement.scrollWidth") <= 1400, name


def test_filters_show_and_hide_claims(opened: Browser) -> None:
    visible = "[...document.querySelectorAll('#matrix tr[data-purpose]')].filter((row) => !row.hidden).length"
    assert opened.run(visible) == 2
    opened.run("document.querySelector('input[data-purpose=check]').click()")
    assert opened.run(visible) == 3
    opened.run("document.querySelector('input[data-purpose=finding]').click()")
    assert opened.run(visible) == 1


def test_a_click_on_a_claim_shows_its_numbers_and_its_figure(opened: Browser) -> None:
    opened.run("document.querySelector('button[data-verdict=\"0\"]').click()")
    opened.wait("document.querySelector('dialog[open] img')?.naturalWidth > 0")
    text = opened.run("document.querySelector('dialog').innerText")
    for part in ("Holds", "+0.012 NDCG", "+0.001 to +0.020 (99.17 %)", "< 0.0001", "Figure 1: all"):
        assert part in text
    opened.run("document.querySelector('dialog .close').click()")
    assert not opened.run("document.querySelector('dialog').open")
    assert opened.problems == []


def test_figures_follow_the_chosen_data_set(opened: Browser) -> None:
    opened.run("document.querySelector('.row img[data-id]').scrollIntoView()")
    opened.wait("document.querySelector('.row img[data-id]').dataset.shown === 'alpha'")
    opened.run(
        "(s => { s.value = 'beta'; s.dispatchEvent(new Event('change')) })(document.querySelector('select[data-study-of]'))"
    )
    opened.wait("document.querySelector('.row img[data-id]').dataset.shown === 'beta'")
    assert opened.run("document.querySelector('.tables a').getAttribute('href')") == "beta/tables/smith-table1.html"
    # What alpha alone has is hidden, and its picture stays that of alpha.
    assert opened.run("[...document.querySelectorAll('[data-only]')].map((one) => getComputedStyle(one).display)") == [
        "none",
        "none",
    ]
    assert opened.run("document.querySelector('.row[data-only] img').dataset.dataset") == "alpha"


def test_the_map_answers_to_the_mouse_and_to_its_choices(opened: Browser) -> None:
    with_map(opened)
    # The dot of query 123, where it is on the screen.
    opened.run("control('view').scrollIntoView()")
    place = (
        "(() => {{ const box = document.querySelector('#map-view canvas').getBoundingClientRect(), {{ view }} = map;"
        " return box.{side} + view.origin()[{i}] + view.padding().{side} + view.scale('{axis}')(map.data.{axis}[123]) }})()"
    )
    x, y = (
        opened.run(place.format(side=side, i=i, axis=axis))
        for i, (side, axis) in enumerate((("left", "x"), ("top", "y")))
    )
    opened.press(x, y)
    opened.wait("map.pinned !== null")
    # Where dots lie on each other, the upper one answers.
    assert (
        opened.run("Math.hypot(map.data.x[map.pinned] - map.data.x[123], map.data.y[map.pinned] - map.data.y[123])")
        < 0.1
    )
    opened.run("map.pinned = 123; about(123)")
    text = opened.run("document.getElementById('map-about').innerText")
    for part in ("words of query number 123", "words of query number 124", "Near <b>", "Global"):
        assert part in text
    for choice in ("ap", "type", "relevant", "part", "gain"):
        opened.run(
            f"(s => {{ s.value = '{choice}'; s.dispatchEvent(new Event('change')) }})(document.getElementById('map-colour'))"
        )
        opened.wait(
            f"map.view.data('queries').length === 400 && coloured()[0] && document.getElementById('map-colour').value === '{choice}'"
        )
    opened.run(
        "(s => { s.value = 'number 39'; s.dispatchEvent(new Event('input')) })(document.getElementById('map-find'))"
    )
    assert opened.run("map.view.data('queries').filter((row) => row.m).length") == 11
    opened.run(
        "(s => { s.value = 'beta'; s.dispatchEvent(new Event('change')) })(document.getElementById('map-dataset'))"
    )
    opened.wait("map.data === map.loaded.get('beta')")
    assert opened.problems == []
