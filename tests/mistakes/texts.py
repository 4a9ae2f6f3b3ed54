"""Mistakes in text collections: BEIR, SMART and TREC form."""

from tests.mistakes.planted import Files, Mistake, first_job

WORDS = ("egg", "soup", "bread", "milk", "salt", "rice")
DOCS, QUERIES = range(1, 31), range(1, 16)


def words(number: int) -> str:
    """A few words that some documents and queries share."""
    return f"{WORDS[number % 6]} {WORDS[number % 5]} w{number}"


BEIR = {
    "mine.yaml": "datasets: [mine]\nown: {mine: {kind: beir, folder: beir}}\n",
    "beir/corpus.jsonl": "".join(f'{{"_id": "d{i}", "title": "", "text": "{words(i)}"}}\n' for i in DOCS),
    "beir/queries.jsonl": "".join(f'{{"_id": "q{i}", "text": "{words(i)}"}}\n' for i in QUERIES),
    "beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\n" + "".join(f"q{i}\td{i}\t1\n" for i in QUERIES),
}
SMART = {
    "mine.yaml": "datasets: [mine]\nown: {mine: {kind: smart, documents: docs, queries: asked, qrels: judged}}\n",
    "docs": "".join(f".I {i}\n.W\n{words(i)}\n" for i in DOCS),
    "asked": "".join(f".I {i}\n.W\n{words(i)}\n" for i in QUERIES),
    "judged": "".join(f"{i} {i} 0 0\n" for i in QUERIES),
}
TREC = {
    "mine.yaml": "datasets: [mine]\nown: {mine: {kind: trec, documents: docs, topics: asked, qrels: judged}}\n",
    "docs": "".join(f"<DOC>\n<DOCNO> d{i} </DOCNO>\n<TEXT>\n{words(i)}\n</TEXT>\n</DOC>\n" for i in DOCS),
    "asked": "".join(f"<top>\n<num> Number: {i}\n<title> {words(i)}\n</top>\n" for i in QUERIES),
    "judged": "".join(f"{i} 0 d{i} 1\n" for i in QUERIES),
}


def text(name: str, form: Files, file: str, content: str | bytes, says: str) -> Mistake:
    """A mistake in one file of a good collection."""
    return Mistake(name, first_job, says, {**form, file: content})


def changed(form: dict[str, str], file: str, line: int, to: str) -> str:
    """A file with one line replaced."""
    lines = form[file].splitlines(keepends=True)
    return "".join([*lines[: line - 1], to + "\n", *lines[line:]])


def at(name: str, form: dict[str, str], file: str, line: int, to: str, says: str) -> Mistake:
    """A mistake in one line of a good collection; the message must name both."""
    return text(name, form, file, changed(form, file, line, to), f"{file}, line {line} | {says}")


CORPUS, ASKED, QRELS = "beir/corpus.jsonl", "beir/queries.jsonl", "beir/qrels/test.tsv"
TEXTS = [
    at("BEIR: a line that is not JSON", BEIR, CORPUS, 3, '{"_id": "d3", "text": ', "not a JSON object | fix:"),
    at("BEIR: no text", BEIR, CORPUS, 3, '{"_id": "d3", "body": "x"}', 'text is missing | "text": "..."'),
    at("BEIR: an id twice", BEIR, CORPUS, 3, '{"_id": "d1", "text": "x"}', "the id is in line 1 already | fix:"),
    at("BEIR: id instead of _id", BEIR, ASKED, 2, '{"id": "q2", "text": "x"}', "_id is missing | fix:"),
    at("BEIR: blanks for tabs", BEIR, QRELS, 2, "q1 d1 1", "1 column | separated by tabs"),
    at("BEIR: a real-valued score", BEIR, QRELS, 2, "q1\td1\t0.5", "0.5 | cut real values into grades"),
    at("BEIR: a pair judged twice, differently", BEIR, QRELS, 3, "q1\td1\t2", "judged twice | 1 and 2 | fix:"),
    text(
        "BEIR: no query is judged",
        BEIR,
        QRELS,
        BEIR[QRELS].replace("\tq", "").replace("q1", "x1").replace("q", "x"),
        f"{QRELS} | fix:",
    ),
    text(
        "BEIR: no document of the judgments is there", BEIR, QRELS, BEIR[QRELS].replace("\td", "\te"), f"{QRELS} | fix:"
    ),
    text("BEIR: no documents", BEIR, CORPUS, "", f"{CORPUS} | no document | fix:"),
    text("BEIR: no queries", BEIR, ASKED, "", f"{ASKED} | no quer | fix:"),
    text(
        "BEIR: latin-1",
        BEIR,
        CORPUS,
        '{"_id": "d1", "text": "café"}\n'.encode("latin-1"),
        f"{CORPUS}, line 1 | not utf-8 | fix:",
    ),
    text(
        "SMART: text like LISA's",
        SMART,
        "docs",
        "Document   1\nTITLE\nwords\n****\n",
        'docs, line 1: this is not SMART form | ".I 1"',
    ),
    at("SMART: a record twice", SMART, "docs", 4, ".I 1", "1 | line 1 | fix:"),
    at("SMART: a record without a number", SMART, "docs", 4, ".I", "number | fix:"),
    at("SMART: a query 0 with words", SMART, "asked", 4, ".I 0", "record 0 is not an empty last record | fix:"),
    at("SMART: a judgment of one column", SMART, "judged", 2, "2", "column | fix:"),
    text("SMART: three columns", SMART, "judged", "1 1 1\n2 2 1\n", "judged | judgments: graded"),
    text(
        "SMART: swapped columns",
        SMART,
        "judged",
        "".join(f"{i + 15} {i} 0 0\n{i} {i} 0 0\n" for i in QUERIES),
        "judged | swapped",
    ),
    text(
        "SMART: judgments of other queries",
        SMART,
        "judged",
        "".join(f"{i} {i} 0 0\n" for i in range(900, 920)),
        "judged | fix:",
    ),
    text(
        "TREC: </DOC> is missing",
        TREC,
        "docs",
        changed(TREC, "docs", 6, ""),
        "docs, line 7: a second <DOC> | fix:   add </DOC> above",
    ),
    text("TREC: no DOCNO", TREC, "docs", changed(TREC, "docs", 2, ""), "docs, line 1 | <DOCNO> | fix:"),
    text(
        "TREC: a document twice",
        TREC,
        "docs",
        changed(TREC, "docs", 8, "<DOCNO> d1 </DOCNO>"),
        "docs, line 7: the id is in line 1 | fix:",
    ),
    text(
        "TREC: </top> is missing",
        TREC,
        "asked",
        changed(TREC, "asked", 4, ""),
        "asked, line 5: a second <top> | fix:   add </top> above",
    ),
    text("TREC: no number of a topic", TREC, "asked", changed(TREC, "asked", 2, ""), "asked, line 1 | <num> | fix:"),
    text(
        "TREC: a topic twice",
        TREC,
        "asked",
        changed(TREC, "asked", 6, "<num> Number: 1"),
        "asked, line 5 | line 1 already | fix:",
    ),
    at("TREC: three columns", TREC, "judged", 2, "2 d2 1", "3 columns | fix:"),
    text("TREC: topics in another form", TREC, "asked", "1\tegg soup\n", "asked | <top> | fix:"),
    text("TREC: documents in another form", TREC, "docs", BEIR[CORPUS], "docs | <DOC> | fix:"),
    text("TREC: qrels in BEIR's form", TREC, "judged", BEIR[QRELS], "judged, line 1 | fix:"),
]
