from __future__ import annotations

import base64
import gzip
import json
import re

from qdrank.pages.best import SHOWN, best_methods
from qdrank.pages.embedding import embedded_json, packed


def row(method: str, ap: float, interval: float | None = 0.02) -> dict:
    ends = [None, None] if interval is None else [ap - interval, ap + interval]
    columns = [f"{measure}{end}" for measure in ("MAP", "NDCG@10") for end in ("", ", low", ", high")]
    return {"method": method, "label": f"<{method}>"} | dict(zip(columns, [ap, *ends] * 2, strict=True))


def page(rows: list[dict], first: tuple[str, ...] = ()) -> str:
    known = {"title": "A & B", "counts": {"queries": 1500}, "published": {"queries": 1692}}
    return best_methods({"mine": known}, {"mine": rows}, first)


def test_the_best_method_is_named_with_those_within_its_interval() -> None:
    text = page([row("a", 0.5), row("b", 0.49), row("c", 0.4)])
    assert "Highest MAP: &lt;a&gt;, 0.500. 1 other method has a mean within its interval, 0.480 to 0.520." in text
    assert "1,500 queries (published: 1,692)" in text
    assert "<summary>A &amp; B</summary>" in text
    assert "too few test queries" in page([row("a", 0.5, None)])


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
