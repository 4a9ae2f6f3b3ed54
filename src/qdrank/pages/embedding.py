"""Content embedded in the page, which then loads nothing else: compressed, and unpacked by the browser when seen."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

import pyarrow as pa


def packed(name: str, content: str) -> str:
    """``content`` as an element with the id ``name``, for ``unpack(name)`` in page.js.

    Arrow's gzip is part of the locked environment; that of the interpreter is the machine's, and its bytes may differ.
    """
    squeezed: bytes = pa.Codec("gzip", compression_level=9).compress(content.encode(), asbytes=True)
    return f'<script type="text/plain" id="{html.escape(name)}">{base64.b64encode(squeezed).decode()}</script>\n'


def compact(value: Any) -> str:
    """``value`` as JSON in the fewest characters, in the order given."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def embedded_json(name: str, value: Any) -> str:
    """``value`` as JSON in an element with the id ``name``, safe inside a page."""
    text = compact(value).replace("<", "\\u003c")
    return f'<script type="application/json" id="{html.escape(name)}">{text}</script>\n'
