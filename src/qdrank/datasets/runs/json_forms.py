"""Runs and judgments as JSON, in a file or in Python: `FORMS` are the shapes that are known, the first that fits reads it."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import IO, Any, NamedTuple

import pyarrow as pa

from qdrank.datasets.runs.rows import Rows, listed_rows
from qdrank.datasets.textfiles import BROKEN, lines, open_bytes
from qdrank.errors import AnyPath, InputError, placed

#: How a JSON object begins, lines of JSON whose first member names the query, and a frame of LZ4.
JSON, LZ4 = re.compile(rb"\s*\{\s*([\"}]|$)"), b"\x04\x22\x4d\x18"
_LINES = re.compile(rb'\s*\{\s*"query_id"\s*:\s*[^{\s]')

Lists = Iterator[tuple[Any, Iterable[tuple[Any, Any]]]]
"""Each query with its documents and their numbers."""


class Form(NamedTuple):
    """A shape of content.

    Attributes
    ----------
    words : what it is
    fits : whether content has it
    score, grade : what gives scores and grades; None where there are none
    parts : the runs in it, by their tags
    """

    words: str
    fits: Callable[[Any], bool]
    score: Callable[[Any], Lists] | None = None
    grade: Callable[[Any], Lists] | None = None
    parts: Callable[[Any], dict[str, Any]] = lambda content: {"": content}


class _Members(dict[str, Any]):
    """A JSON object some of whose names come twice."""

    def __init__(self, pairs: Sequence[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    return content if len(content) == len(pairs) else _Members(pairs)


def _members(content: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    return content.pairs if isinstance(content, _Members) else content.items()


def _documents(content: Mapping[str, Any]) -> Lists:
    for query, documents in _members(content):
        if not isinstance(documents, Mapping):
            fix = 'write {"query": {"document": number}}'
            raise InputError(f"query {query}: its documents are missing", found=str(documents), fix=fix)
        yield query, _members(documents)


def _predictions(content: Mapping[str, Any]) -> dict[str, Any]:
    """MTEB's predictions by model, and by subset and split where there are several."""
    model = content["mteb_model_meta"]["model_name"]
    parts = ((subset, splits) for subset, splits in content.items() if subset != "mteb_model_meta")
    found = {f"{model}/{subset}/{split}": lists for subset, splits in parts for split, lists in splits.items()}
    return found if len(found) > 1 else dict.fromkeys([model], *found.values())


def _results(content: Sequence[Any]) -> Lists:
    for one in content:
        yield one["query_id"], [(result["corpus_id"], result["score"]) for result in one["results"]]


def _hits(query: str, response: Mapping[str, Any]) -> tuple[str, list[Mapping[str, Any]]]:
    """A query and the hits of its response."""
    if "error" in response or response.get("timed_out") or response.get("_shards", {}).get("failed"):
        problem, fix = f"the search for the query {query} failed, or found a part only", "ask again: a run is whole"
        raise InputError(problem, found=str(response.get("error", "timed out, or shards failed")), fix=fix)
    return query, response["hits"].get("hits", ())  # filter_path leaves out what is empty


def _scored(hits: Sequence[Mapping[str, Any]]) -> list[tuple[str, Any]]:
    """Documents and scores of hits; minus their ranks where the search sorted by something else."""
    scores = [hit.get("_score") for hit in hits]
    return [(hit["_id"], -i if None in scores else scores[i]) for i, hit in enumerate(hits)]


def _responses(content: Mapping[str, Any]) -> Lists:
    """Queries by the names that the requests gave them (``_name``): a response does not say what was asked."""
    read = [_hits(f"in place {i}", one) for i, one in enumerate(content["responses"], 1)]
    answered = [(name, hits) for name, hits in read if hits]
    names = [sorted({name for hit in hits for name in hit.get("matched_queries", ())}) for _, hits in answered]
    for (place, _), one in zip(answered, names, strict=True):
        if len(one) != 1 or names.count(one) > 1:
            problem = f"responses of _msearch: the query {place} has no name of its own"
            fix = 'write {"query": response} with the ids of your queries, or give each request its id as _name'
            raise InputError(problem, found=", ".join(one), fix=fix)
    for (_, hits), (name,) in zip(answered, names, strict=True):
        yield name, _scored(hits)


def _searches(content: Mapping[str, Any]) -> Lists:
    for query, response in _members(content):
        name, hits = _hits(query, response)
        yield name, _scored(hits)


def _rated(content: Mapping[str, Any], *, grade: bool) -> Lists:
    """Scores, or ratings, of the documents that a _rank_eval found."""
    if failures := content.get("failures"):
        fix = "ask again: a run is whole"
        raise InputError(
            f"the search for the query {min(failures)} failed", found=str(failures[min(failures)]), fix=fix
        )
    for query, detail in content["details"].items():
        hits = [one["hit"] for one in detail["hits"]]
        ratings = [(one["hit"]["_id"], one["rating"]) for one in detail["hits"] if one["rating"] is not None]
        yield query, ratings if grade else _scored(hits)


def _ratings(content: Mapping[str, Any]) -> Lists:
    for one in content["requests"]:
        yield one["id"], [(rated["_id"], rated["rating"]) for rated in one["ratings"]]


def _has(name: str, kind: type | UnionType) -> Callable[[Any], bool]:
    return lambda content: isinstance(content, Mapping) and isinstance(content.get(name), kind)


def _has_results(content: Any) -> bool:
    return isinstance(content, list) and all(isinstance(one, Mapping) and "results" in one for one in content)


def _of_searches(content: Any) -> bool:
    fits = _has("hits", Mapping)
    return isinstance(content, Mapping) and any(map(fits, content.values()))


FORMS = (
    Form("predictions of MTEB", _has("mteb_model_meta", Mapping), _documents, parts=_predictions),
    Form("predictions of sentence-transformers", _has_results, _results),
    Form("responses of _msearch", _has("responses", list), _responses),
    Form(
        "responses of _rank_eval, where only what was found is rated",
        _has("metric_score", int | float),
        lambda content: _rated(content, grade=False),
        lambda content: _rated(content, grade=True),
    ),
    Form("ratings of _rank_eval", _has("requests", list), grade=_ratings),
    Form("responses of _search, by query", _of_searches, _searches),
    Form("JSON {query: {document: number}}", lambda content: isinstance(content, Mapping), _documents, _documents),
)


def of_content(content: Any, what: str, path: AnyPath | None = None) -> list[tuple[Rows, str, str]]:
    """Rows, form in words and tag, empty where there is none, of the runs in a content, or of its judgments.

    Raises `InputError` for content of no known form, or not whole, and for a number that is none.
    """
    form = next((form for form in FORMS if form.fits(content)), None)
    if form is None:
        fix = f'give {{"query": {{"document": {what}}}}}, a table with named columns, or the file of one'
        raise InputError(f"no {what}s can be read from it", file=path, found=str(content), fix=fix)
    read = form.score if what == "score" else form.grade
    if read is None:
        fix = "judgments come first: qdrank evaluate QRELS RUN"
        raise InputError(f"{form.words}: they hold no {what}s", file=path, fix=fix)
    try:
        with placed(path or ""):
            return [(_listed(read(part), what, path), form.words, tag) for tag, part in form.parts(content).items()]
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        problem, fix = f"not whole: {form.words}", "give the whole answer, as the tool wrote it"
        raise InputError(problem, file=path, found=f"{type(error).__name__}: {error}", fix=fix) from None


def _listed(lists: Lists, what: str, path: AnyPath | None) -> Rows:
    query: list[Any] = []
    doc: list[Any] = []
    number: list[Any] = []
    for name, pairs in lists:
        listed = list(pairs)
        query += [name] * len(listed)
        doc += [one for one, _ in listed]
        number += [one for _, one in listed]
    return listed_rows(query, doc, number, what, path)


def read_content(path: AnyPath, head: bytes) -> Any:
    """The content of a file of JSON, of lines of JSON, or of ranx's LZ4; ``head`` is its beginning."""
    if _LINES.match(head):
        return [_parsed(line, path, number) for number, line in lines(path) if line.strip()]
    try:
        with open_bytes(path) as file:
            text = file.read()
        while text.startswith(LZ4):  # ranx compresses twice
            text = pa.CompressedInputStream(pa.BufferReader(text), "lz4").read()
        return _cbor(io.BytesIO(text)) if head.startswith(LZ4) else _parsed(text, path, 1)
    except InputError:
        raise
    except (IndexError, struct.error, *BROKEN) as error:
        raise InputError(f"cannot be read: {error}", file=path, line=1, fix="write the file again") from None


def _parsed(text: bytes, path: AnyPath, first: int) -> Any:
    """JSON whose first line is line ``first`` of a file."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        problem, line = f"not JSON: {error.msg}", first + error.lineno - 1
    except (ValueError, RecursionError) as error:
        problem, line = f"not JSON: {error}", first
    raise InputError(problem, file=path, line=line, fix="write the file again with a JSON library")


_FLOATS = {0xF9: ">e", 0xFA: ">f", 0xFB: ">d"}


def _cbor(file: IO[bytes]) -> Any:
    """Content in CBOR (RFC 8949) made of maps, texts and numbers."""
    first = file.read(1)[0]
    if first in _FLOATS:
        return struct.unpack(_FLOATS[first], file.read(struct.calcsize(_FLOATS[first])))[0]
    kind, size = divmod(first, 32)
    if 24 <= size < 28:
        size = int.from_bytes(file.read(1 << size - 24), "big")
    if kind < 2:
        return size if kind == 0 else -1 - size
    if kind == 3:
        return file.read(size).decode()
    if kind == 5:
        return _object([(_cbor(file), _cbor(file)) for _ in range(size)])
    raise ValueError(f"kind {kind} of CBOR, which no run has")
