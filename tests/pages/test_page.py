"""The first page as text: complete, safe, of bounded size, and the same bytes every time."""

import base64
import gzip
import json
import re
from fnmatch import fnmatchcase
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import vl_convert

from qdrank.datasets.judged import Judged
from qdrank.evaluation.deciding import QUERIES, SEEDS, SETS, THESE_WORLDS, verdicts_table
from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.figures.tables import p_value
from qdrank.figures.verdicts import STARRED, verdicts_overview
from qdrank.pages.findings import number, sentences, tally
from qdrank.pages.page import _datasets, index_page
from qdrank.pages.queries import evenly, explored, query_map, specification
from qdrank.queries.vectors import principal_plane
from qdrank.registry import loaded
from qdrank.store import write
from qdrank.store.tables import list_column
from qdrank.studies import STUDIES
from qdrank.studies.study import Study
from qdrank.workflow.config import WholeSettings
from tests.pages.made import ROWS, made_map, made_page, made_run, made_tables, row


def unpacked(page: str, name: str) -> str:
    (content,) = re.findall(rf'<script type="text/plain" id="{re.escape(name)}">([^<]*)</script>', page)
    return gzip.decompress(base64.b64decode(content)).decode()


def test_the_page_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    assert made_page(tmp_path, "bundle()") == made_page(tmp_path, "bundle()")


def test_the_page_carries_figures_maps_and_numbers(tmp_path: Path) -> None:
    page = made_page(tmp_path, "bundle()")
    assert unpacked(page, "bundle") == "bundle()"
    assert "alpha</text>" in unpacked(page, "figure-alpha-smith-fig1")
    assert json.loads(unpacked(page, "map-beta"))["total"] == 60
    assert "near - global &amp; more" in page
    assert "Near is better." in page
    assert "&lt; 0.0001" in page or "< 0.0001" in page or "\\u003c 0.0001" in page
    # What comes from data or configuration cannot end the page's own elements.
    assert "not here &lt;/script&gt;" in page
    assert "Near \\u003cb>" in page


def test_the_page_begins_with_the_best_ranker_of_each_data_set(tmp_path: Path) -> None:
    page = made_page(tmp_path, "")
    assert page.index('id="best"') < page.index('id="findings"') < page.index('id="map"') < page.index('id="claims"')
    alpha, beta = page.split("<details class=best")[1:3]
    first, second = "Method 0 &lt;i&gt;", "Method 1 &lt;i&gt;"
    assert f"Highest MAP: {first}, 0.400; second: {second}, 0.390. Whether the first is better, the data" in alpha
    assert "cannot tell (+0.010, -0.050 to +0.050): so. 4 of 13 others, marked ≈, cannot be told from it." in alpha
    assert "cannot tell (+0.010): so." in beta
    counts = "1,234 queries (published: 1,230), 80 of them tested, 56,789 documents to rank, 3,204 documents in the collection, 796 judgments"
    assert counts in alpha
    assert "3,204" not in beta
    shown, rest = alpha.split("<tbody class=rest hidden>")
    assert shown.count("<tr") - 1 == 11, "ten, and the first stage, which is the last"
    assert rest.partition("</tbody>")[0].count("<tr") == 3
    assert "<tr class=stage><th scope=row>reference feature" in shown
    assert "<line" in alpha
    assert "<line" not in beta.partition("</details>")[0]
    assert page.index('<figure><img src="data:image/svg+xml;base64,') < page.index('id="figures"')


def test_the_page_names_studies_that_are_left_out(tmp_path: Path) -> None:
    run = made_run()
    idle = run["studies"][0] | {"datasets": {}}
    run["studies"] += [idle | {"paper": "Other 1999", "wanted": False}, idle | {"paper": "Third 2001", "wanted": True}]
    made_page(tmp_path, "")
    page = index_page(run, verdicts_table(ROWS), {}, {}, "", **made_tables())
    said = "<p>The key <code>studies</code> leaves out Other 1999. No data set of this run is for Third 2001.</p>"
    assert said in page


def test_findings_on_too_few_seeds_are_starred_as_in_the_overview(project: Path, tmp_path: Path) -> None:
    made_page(tmp_path, "")
    rows = [
        row("one", "alpha", HOLDS, analysis=THESE_WORLDS),
        row("two", "alpha", FAILS, analysis=THESE_WORLDS),
        row("three", "alpha", UNCLEAR, analysis=THESE_WORLDS),
        row("four", "alpha", HOLDS, analysis=SEEDS),
        row("five", "alpha", HOLDS, analysis=QUERIES, world=""),
        row("six", "alpha", HOLDS, analysis=THESE_WORLDS, purpose="check"),
    ]
    page = index_page(made_run(), verdicts_table(rows), {}, {}, "", **made_tables())
    cells = dict(re.findall(r"<th scope=row>(\w+) .*?</th><td><button [^>]*><b>.</b> ([^<]*)</button>", page))
    assert cells == {name: "+0.012*" if name in ("one", "two") else "+0.012" for name in cells}
    assert len(cells) == len(rows)
    overview = verdicts_overview(verdicts_table(rows)).to_pylist()
    starred = {line["claim"].split()[0] for line in overview if line["alpha"].endswith("*")}
    assert starred == {name for name, cell in cells.items() if cell.endswith("*")}
    assert "<li>one &amp; more: <span>Alpha (+0.012*)</span></li>" in page
    assert page.count(STARRED) == 2, "beside the findings, and beside the matrix"
    caption = (project / "workflow/report/claims-overview.rst").read_text()
    assert STARRED in " ".join(caption.split())
    assert STARRED not in index_page(made_run(), verdicts_table(rows[2:]), {}, {}, "", **made_tables())


def test_ten_thousand_queries_and_fifty_methods_stay_small(tmp_path: Path) -> None:
    """Two data sets of 10,000 queries, each with 50 methods: a million average precisions."""
    page = made_page(tmp_path, "", n=10_000, methods=50)
    assert len(page) < 6_000_000
    assert len(made_page(tmp_path, "", n=1_000, methods=50)) < 700_000


def test_random_digits_are_what_the_size_is_made_of() -> None:
    """Per mille as whole numbers: nulls stay nulls, and no digit more than is shown."""
    found = explored(made_map(9))["ap"]["near"]
    assert [value is None for value in found] == [i % 3 != 0 for i in range(9)]
    assert all(isinstance(value, int) and 0 <= value <= 1000 for value in found if value is not None)


def test_the_drawing_compiles() -> None:
    spec = specification()
    spec["width"] = 300
    made = vl_convert.vegalite_to_vega(spec)
    assert [data["name"] for data in made["data"] if data["name"] in ("queries", "edges", "chosen")]


@pytest.mark.parametrize(("p", "shown"), [(0.0, "< 0.0001"), (9e-5, "< 0.0001"), (1e-4, "0.0001"), (0.04567, "0.0457")])
def test_a_p_value_is_never_shown_as_zero(p: float, shown: str) -> None:
    assert p_value(p) == shown


def test_small_effects_are_not_shown_as_zero() -> None:
    assert [number(v, signed=True) for v in (0.01234, -0.0004, 0.0)] == ["+0.012", "-4.0e-04", "0"]


def test_an_average_decides_its_claim_and_single_sets_stand_below_it() -> None:
    sets = [row("near - global", name, UNCLEAR, effect=0.01) for name in ("alpha", "beta", "gamma", "delta")]
    average = row("near - global", "average", HOLDS, analysis=SETS, n=4)
    rows = [average, *sets, row("near - global", "world", FAILS, analysis=SEEDS), row("far - global", "alpha", FAILS)]
    assert tally(rows).startswith(
        "2 claims on 5 data sets (3 verdicts): 1 holds and 2 do not hold. 1 claim decided by the"
    )
    told = {verdict: dict(claims) for verdict, claims in sentences(rows, {"alpha": "Alpha"})}
    below = ", ".join(f"? {name} (+0.010)" for name in ("Alpha", "beta", "gamma", "delta"))
    assert told[HOLDS] == {"near - global & more": f"average of 4 sets (+0.012), {below}"}
    assert told[FAILS] == {"near - global & more": "world (+0.012)", "far - global & more": "Alpha (+0.012)"}
    assert told[UNCLEAR] == {}


def test_the_tally_counts_claims_of_the_paper_alone() -> None:
    assert (
        tally(ROWS) == "2 claims on 2 data sets (3 verdicts): 1 holds, 1 does not hold and for 1 the data cannot tell."
    )


def test_evenly() -> None:
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    kept = evenly(100_000, 10_000)
    assert len(kept) == 10_000
    assert set(np.diff(kept)) == {10}


def written_fold(
    folder: Path, n: int, vectors: np.ndarray, role: list[str], nearest: list[list[int]]
) -> tuple[Path, Path]:
    ids = [f"q{i}" for i in range(n)]
    trains = [i for i in range(n) if role[i] == "train"]
    index = [trains.index(i) if i in trains else -1 for i in range(n)]
    columns = {
        "query_id": ids,
        "role": role,
        "type": pa.array([None] * n, pa.string()),
        "train_index": pa.array(index, pa.int32()),
    }
    folder.mkdir()
    write(folder / "queries.parquet", "queries", pa.table({**columns, "vector": list_column(vectors)}))
    table = pa.table({"query_id": ids, "role": role, "neighbours": list_column(np.array(nearest, dtype=np.int32))})
    write(folder / "neighbours.parquet", "neighbours", table)
    return folder / "queries.parquet", folder / "neighbours.parquet"


def test_the_map_of_two_folds_against_a_count_by_hand(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(5, 3))
    first = written_fold(tmp_path / "a", 5, vectors, ["train", "train", "train", "vali", "test"], [[0, 1, 2]] * 5)
    second = written_fold(tmp_path / "b", 5, vectors, ["test", "train", "train", "train", "vali"], [[2, 1, 0]] * 5)
    offsets = np.array([0, 2, 3, 5, 6, 8])
    labels = np.array([0, 1, 0, 2, 1, 0, 1, 0], dtype=np.int8)
    ids = np.array([f"q{i}" for i in range(5)], dtype=object)
    judged = Judged.from_arrays(np.zeros((8, 1)), labels, np.repeat(ids, np.diff(offsets)))
    topics = pa.table(
        {
            "query_id": ids,
            "part": ["S1"] * 5,
            "text": ["w " * 100, None, "b  c", "d", "e"],
            "type": pa.array([None] * 5, pa.string()),
            "columns": [[0.0]] * 5,
        }
    )
    measures = pa.table({"fold": ["f1", "f2"], "method": ["m", "m"], "query_id": ["q4", "q0"], "ap": [0.25, 0.5]})
    found = query_map(judged, topics, [first, second], [measures])
    assert found.column("relevant").to_pylist() == [1, 0, 2, 0, 1]
    assert found.column("documents").to_pylist() == [2, 1, 2, 1, 2]
    assert found.column("ap of m").to_pylist() == [0.5, None, None, None, 0.25]
    # q0 is tested in the second fold, whose training queries are q1, q2, q3; no query is its own neighbour.
    near = found.column("neighbours").to_pylist()
    assert near[0] == ["q3", "q2", "q1"]
    assert near[1] == ["q0", "q2"]
    assert near[4] == ["q0", "q1", "q2"]
    text = found.column("text").to_pylist()
    assert text[1:3] == [None, "b c"]
    assert len(text[0]) <= 120
    assert text[0].endswith("…")
    plane, _ = principal_plane(vectors, np.arange(len(vectors)) < 3)
    np.testing.assert_allclose(np.column_stack([found.column("x"), found.column("y")]), plane, atol=1e-4)
    assert len(query_map(judged, topics, [first, second], [measures], most=2)) == 2


def declared(study: Study) -> list[str]:
    """Names of a study's claims under the default configuration."""
    settings = WholeSettings()
    keys = [key.partition(" as ") for key in study.budget]
    found = {new or key.rpartition(".")[2]: reduce(getattr, key.split("."), settings) for key, _, new in keys}
    return [claim.name for claim in loaded(study.claims)(found)]


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_figure_says_what_the_paper_showed_and_every_pattern_names_a_claim(name: str) -> None:
    study = STUDIES[name]
    assert study.idea.endswith(".")
    assert study.against in {method.name for method in study.methods}
    claims = declared(study)
    for figure in study.figures:
        assert figure.said.endswith("."), figure.id
        for pattern in figure.claims:
            assert any(fnmatchcase(claim, pattern) for claim in claims), f"{figure.id}: no claim is called {pattern}"
    patterns = [pattern for figure in study.figures for pattern in figure.claims]
    lacking = [claim for claim in claims if not any(fnmatchcase(claim, pattern) for pattern in patterns)]
    assert not lacking, f"no figure pictures {lacking}"


def test_notes_stand_under_the_titles_of_data_sets() -> None:
    """A column of their own would be empty for most runs, and push the links out of a narrow window."""
    known = {"title": "A <web>", "kind": "simulated", "folds": ["fold1"]}
    table = _datasets({"datasets": {"web": known | {"note": "Pages & links."}, "more": known | {"note": ""}}})
    assert "<b>A &lt;web&gt;</b><br><small>Pages &amp; links.</small>" in table
    assert table.count("<small>") == 1
    assert "<th>note" not in table
