"""Mistakes in LETOR text: found by the check, or by the first job."""

import gzip

from tests.mistakes.configurations import LETOR, ROWS
from tests.mistakes.planted import Mistake, first_job


def rows(name: str, content: str | bytes, says: str, config: str = LETOR) -> Mistake:
    """A mistake in rows.txt."""
    # A failed job's files are removed by the workflow.
    return Mistake(name, first_job, says, {"mine.yaml": config, "rows.txt": content}, ("results/judged.parquet",))


def line_3(row: str) -> str:
    """Good rows, the third replaced."""
    lines = ROWS.splitlines(keepends=True)
    return "".join([*lines[:2], row + "\n", *lines[3:]])


FEATURE_FILES = [
    rows("a file without rows", "", "rows.txt | no rows"),
    rows("one query", ROWS[: ROWS.index("0 qid:2 ")], "rows.txt: 1 judged query cannot | at least 10"),
    rows("two queries", ROWS[: ROWS.index("0 qid:3 ")], "rows.txt: 2 judged queries cannot | at least 10"),
    rows("real-valued grades", line_3("0.7 qid:2 1:0.5 2:0.2"), "rows.txt, line 3 | 0.7 | cut real values into grades"),
    rows("a negative grade", line_3("-1 qid:2 1:0.5 2:0.2"), "rows.txt, line 3 | negative | -1 | fix:"),
    rows("a grade above max_label", line_3("5 qid:2 1:0.5 2:0.2"), "rows.txt, line 3 | above 4 | max_label"),
    rows("a value that is NaN", line_3("1 qid:2 1:nan 2:0.2"), "rows.txt, line 3 | not finite | 1:nan | fix:"),
    rows("NULL without missing_values", line_3("1 qid:2 1:NULL 2:0.2"), "rows.txt, line 3 | missing_values: true"),
    rows("a decimal comma", line_3("1 qid:2 1:0,5 2:0.2"), "rows.txt, line 3 | not a number | 1:0,5 | fix:"),
    rows("no query", line_3("1 1:0.5 2:0.2"), "rows.txt, line 3 | qid:QUERY | fix:"),
    rows("a feature is missing", line_3("1 qid:2 1:0.5"), "rows.txt, line 3 | ends before feature 2 | sparse: true"),
    rows("a feature too many", line_3("1 qid:2 1:0.5 2:1 3:1"), "rows.txt, line 3 | above 2 | fix:"),
    rows("features out of order", line_3("1 qid:2 2:1 1:0.5"), "rows.txt, line 3 | out of order | fix:"),
    rows(
        "a query in two places",
        ROWS + "1 qid:1 1:0.5 2:1 #docid = x\n",
        "rows.txt, line 61 | began in line 1 | sort -s -k2,2 rows.txt",
    ),
    rows("a document twice", line_3("1 qid:1 1:0 2:0 #docid = 1-0"), "rows.txt, line 3 | twice in its query | 1-0"),
    rows("every grade 0", ROWS.replace("\n1 qid", "\n0 qid"), "rows.txt | every grade is 0 | fix:"),
    rows("every grade 1", ROWS.replace("0 qid", "1 qid"), "rows.txt | different grades | fix:"),
    rows("comma-separated values", "label,query,f1\n1,1,0.5\n", "rows.txt, line 1 | LABEL qid:QUERY 1:VALUE"),
    rows(
        "a page of the web",
        "<!DOCTYPE html>\n<html>Sign in</html>\n",
        "rows.txt, line 1: is a page of the web | download",
    ),
    rows("a broken gzip file", gzip.compress(ROWS.encode())[:-20], "rows.txt, line 59: is cut short or corrupt | fix:"),
    rows("a zip archive", b"PK\x03\x04" + bytes(40), "rows.txt, line 1: is a zip archive | unzip rows.txt"),
    rows("UTF-16", ROWS.encode("utf-16"), "rows.txt, line 1: is UTF-16 text | iconv -f UTF-16 -t UTF-8 rows.txt"),
    Mistake(
        "a query in train and test",
        first_job,
        "qid:1 | test.txt | fix:",
        {
            "mine.yaml": LETOR.replace("all: rows.txt", "train: rows.txt, vali: vali.txt, test: test.txt"),
            "rows.txt": ROWS,
            "vali.txt": ROWS.replace("qid:", "qid:v"),
            "test.txt": ROWS.replace("qid:2", "qid:t"),
        },
    ),
    Mistake(
        "parts with different features",
        first_job,
        "vali.txt | features | fix:",
        {
            "mine.yaml": LETOR.replace("all: rows.txt", "train: rows.txt, vali: vali.txt, test: test.txt"),
            "rows.txt": ROWS,
            "vali.txt": ROWS.replace("qid:", "qid:v").replace(" #", " 3:1 #"),
            "test.txt": ROWS.replace("qid:", "qid:t"),
        },
    ),
]
