import base64
import gzip
import json
import re

import pytest

from qdrank.evaluation.declared import FAILS, HOLDS, UNCLEAR
from qdrank.figures.methods import BETTER, LEAD, REASON
from qdrank.pages.best import SHOWN, best_methods
from qdrank.pages.page import embedded_json, packed


def row(method: str, ap: float, verdict: str = HOLDS, why: str = "so") -> dict:
    columns = [f"{measure}{end}" for measure in ("MAP", "NDCG@10/exp") for end in ("", ", low", ", high")]
    means = dict(zip(columns, [ap, ap - 0.02, ap + 0.02] * 2, strict=True))
    lead = {LEAD: 0.5 - ap, f"{LEAD}, low": 0.4 - ap, f"{LEAD}, high": 0.6 - ap, BETTER: verdict, REASON: why}
    return {"method": method, "label": f"<{method}>"} | means | lead


def page(rows: list[dict], first: tuple[str, ...] = ()) -> str:
    known = {"title": "A & B", "counts": {"queries": 1500}, "published": {"queries": 1692}}
    return best_methods({"mine": known}, {"mine": rows}, first)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (HOLDS, "The first is better (+0.010, -0.090 to +0.110): so. 1 of 2 others, marked ≈,"),
        (FAILS, "The first is not better by 0.005 (+0.010"),
        (UNCLEAR, "Whether the first is better, the data cannot tell (+0.010"),
    ],
)
def test_the_best_the_second_and_the_verdict_between_them(verdict: str, said: str) -> None:
    text = page([row("a", 0.5), row("b", 0.49, verdict), row("c", 0.4, UNCLEAR)])
    assert "Highest MAP: &lt;a&gt;, 0.500; second: &lt;b&gt;, 0.490." in text
    assert said in text
    assert re.findall(r"&lt;(.)&gt; <abbr", text) == (["c"] if verdict == HOLDS else ["b", "c"])
    assert "1,500 queries (published: 1,692)" in text
    assert "<summary>A &amp; B</summary>" in text


def test_one_method_has_no_second() -> None:
    assert "<p>Highest MAP: &lt;a&gt;, 0.500.</p>" in page([row("a", 0.5)])
    assert "All others are behind." in page([row("a", 0.5), row("b", 0.3, HOLDS)])


def test_the_convention_of_ndcg_is_said_in_words() -> None:
    text = page([row("a", 0.5)])
    assert "<th colspan=2>NDCG@10/exp</th>" in text
    assert "NDCG@10/exp: gain 2^grade - 1, discount 1 / log2(rank + 1)." in text


def test_methods_beyond_the_tenth_are_folded_away_but_for_first_stages() -> None:
    rows = [row(f"m{i}", 0.5 - i / 100) for i in range(SHOWN + 3)]
    text = page(rows, first=(f"m{SHOWN + 2}",))
    assert "show 2 more" in text
    shown, _, hidden = text.partition("<tbody class=rest hidden>")
    assert f"&lt;m{SHOWN + 2}&gt;" in shown
    assert all(f"&lt;m{SHOWN + i}&gt;" in hidden for i in (0, 1))
    assert "more-methods" not in page(rows[:SHOWN])


def test_what_is_packed_comes_back_and_cannot_end_the_element() -> None:
    squeezed = re.fullmatch(r'<script [^>]*id="a&lt;b">(.*)</script>\n', packed("a<b", "γ </script>"))
    assert squeezed
    assert gzip.decompress(base64.b64decode(squeezed[1])).decode() == "γ </script>"
    inner = embedded_json("x", {"a": "</script>"}).removesuffix("</script>\n").partition(">")[2]
    assert "<" not in inner
    assert json.loads(inner) == {"a": "</script>"}
