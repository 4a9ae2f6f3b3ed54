"""Documents that nobody judged: which are among the first of a run, and whose judgment would move a difference most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from qdrank.datasets.runs.named_columns import separator, table_cells, table_text
from qdrank.datasets.runs.run import Qrels, Run
from qdrank.errors import GRADE_FIX, AnyPath, InputError
from qdrank.evaluation.run_files import judged_run
from qdrank.layout import FloatArray
from qdrank.measures.names import parse
from qdrank.measures.ranking import MAX_GRADE

#: How many documents a measure looks at if its name has no cutoff.
DEPTH = 100
_HEADS = ["query", "document", "grade", "query text", "document text"]
_AT_ONCE = 5000  # pairs measured in one call, to bound the memory
Pair = tuple[str, str]
"""A query and a document."""
_First = dict[str, dict[str, tuple[int, bool]]]
"""By query and document: rank, and whether it is judged."""


def depth_of(name: str) -> int:
    """How many documents a measure looks at."""
    return parse(name).cutoff or DEPTH


def first_documents(run: Run, qrels: Qrels, depth: int) -> _First:
    """The first ``depth`` documents of each judged query in the order of trec_eval: rank, and whether it is judged."""
    joined = judged_run(run, qrels)
    lists = joined.judgements
    rows = lists.ranked(joined.score, "docno").rows
    found = {}
    for query, (start, stop) in zip(joined.query_id, pairwise(lists.offsets.tolist()), strict=True):
        first = rows[start : min(stop, start + depth)]
        places = zip(joined.doc_id[first].tolist(), lists.judged[first].tolist(), strict=True)
        found[query] = {doc: (rank, known) for rank, (doc, known) in enumerate(places, 1)}
    return found


def with_grades(qrels: Qrels, grades: Iterable[tuple[str, str, int]]) -> Qrels:
    """Judgments with further ones, of query, document and grade, which count where a pair was judged before."""
    merged = {query: dict(docs) for query, docs in qrels.by_query.items()}
    for query, doc, grade in grades:
        merged.setdefault(query, {})[doc] = grade
    return _qrels([(query, doc, grade) for query, docs in merged.items() for doc, grade in docs.items()], qrels.form)


def _qrels(rows: Sequence[tuple[str, str, int]], form: str = "") -> Qrels:
    query, doc = (np.array([row[i] for row in rows], dtype=object) for i in (0, 1))
    return Qrels(query, doc, np.array([row[2] for row in rows], dtype=np.int64), form)


def weights(a: Run, b: Run, qrels: Qrels, name: str) -> dict[Pair, float]:
    """How far the judgment of each unjudged document among the first of a run moves the difference, the furthest first.

    The weight of a pair is the change of the query's difference in the measure if the document is relevant and if it is not
    (Carterette, Allan and Sitaraman 2006, section 3), in either direction; relevant is the usual grade of what is.
    Runs count down to the depth of the measure.
    """
    depth = depth_of(name)
    first = [first_documents(run, qrels, depth) for run in (a, b)]
    pairs = dict.fromkeys(
        (query, doc)
        for ranked in first
        for query, docs in ranked.items()
        for doc, (_, known) in docs.items()
        if not known
    )
    relevant = qrels.grade[qrels.grade > 0]
    grade = int(np.median(relevant)) if len(relevant) else 1
    moved: dict[Pair, float] = {}
    for start in range(0, len(pairs), _AT_ONCE):
        some = list(pairs)[start : start + _AT_ONCE]
        with_it, without = (_differences(some, first, qrels, name, one) for one in (grade, 0))
        moved |= dict(zip(some, np.abs(with_it - without).tolist(), strict=True))
    return dict(sorted(moved.items(), key=lambda item: (-item[1], item[0])))


def _differences(pairs: Sequence[Pair], first: Sequence[_First], qrels: Qrels, name: str, grade: int) -> FloatArray:
    """Differences in the query of each pair, had its document this grade, (n_pairs,)."""
    judged = [
        (str(i), doc, g)
        for i, (query, new) in enumerate(pairs)
        for doc, g in {**qrels.by_query[query], new: grade}.items()
    ]
    known, values = _qrels(judged), []
    for ranked in first:
        rows = [(str(i), doc, -rank) for i, (query, _) in enumerate(pairs) for doc, (rank, _) in ranked[query].items()]
        lists = _qrels(rows)
        measured = judged_run(Run(lists.query, lists.doc, lists.grade.astype(np.float64), ""), known).measured([name])
        values.append(next(iter(measured.values())))
    difference: FloatArray = values[0] - values[1]
    return difference


# ---- the file that an annotator fills in -----------------------------------------------------------------------------


def read_judged(path: AnyPath) -> list[tuple[str, str, int]]:
    """The pairs of such a file that have a grade; none where there is no file yet."""
    if not Path(path).exists():
        return []
    text = table_text(path)
    rows = table_cells(text, separator(text.partition(b"\n")[0]) or ",", path)
    if next(rows, (0, []))[1][:3] != _HEADS[:3]:
        fix = "name a new file, or one that --to-judge wrote"
        raise InputError("is not a list of documents to judge", file=path, line=1, fix=fix)
    found = []
    for line, row in rows:
        if len(row) < len(_HEADS[:3]):
            fix = "each row reads: query, document, grade"
            raise InputError(f"{len(row)} columns", file=path, line=line, fix=fix)
        if word := row[2].strip():
            if not (word.isdigit() and int(word) <= MAX_GRADE):
                raise InputError("the grade is not a whole number", file=path, line=line, found=word, fix=GRADE_FIX)
            found.append((row[0], row[1], int(word)))
    return found


def written_rows(
    judged: Iterable[tuple[str, str, int]],
    pairs: Iterable[Pair],
    queries: Mapping[str, str],
    documents: Mapping[str, str],
) -> Iterator[list[str]]:
    """Rows of the file: its heading, what is judged, what is to be judged, with texts of queries and documents where known."""
    yield _HEADS
    for query, doc, grade in [*judged, *((query, doc, "") for query, doc in pairs)]:
        yield [query, doc, str(grade), queries.get(query, ""), documents.get(doc, "")]
