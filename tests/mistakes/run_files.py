"""Mistakes in runs and judgments, as data and as arguments of commands."""

from tests.mistakes.planted import Mistake, command, first_job

QRELS = "".join(f"q{i} 0 d{j} {int(j == i % 4)}\n" for i in range(1, 16) for j in range(4))
RUN = "".join(f"q{i} Q0 d{j} {j + 1} {4 - j}.5 bm25\n" for i in range(1, 16) for j in range(4))
OTHER = RUN.replace("bm25", "dense")
CONFIG = "datasets: [mine]\nown: {mine: {kind: runs, runs: [a.run, b.run], qrels: qrels.txt}}\n"
GOOD = {"qrels.txt": QRELS, "a.run": RUN, "b.run": OTHER}


def line_2(text: str, row: str) -> str:
    """Good rows, the second replaced."""
    lines = text.splitlines(keepends=True)
    return "".join([lines[0], row + "\n", *lines[2:]])


def data(name: str, says: str, config: str = CONFIG, **files: str) -> Mistake:
    """A mistake in runs that are to be studied."""
    changed = {file.replace("_", "."): text for file, text in files.items()}
    return Mistake(name, first_job, says, {"mine.yaml": config, **GOOD, **changed})


def given(name: str, words: str, says: str, **files: str | bytes) -> Mistake:
    """A mistake in the arguments of a command."""
    changed = {file.replace("_", "."): text for file, text in files.items()}
    return Mistake(name, command(*words.split()), says, {**GOOD, **changed})


RUN_FILES = [
    data("a run with four columns", "a.run, line 2 | 4 columns | fix:", a_run=line_2(RUN, "q1 Q0 d1 2")),
    data("a score that is a word", "a.run, line 2 | high | fix:", a_run=line_2(RUN, "q1 Q0 d1 2 high bm25")),
    data("a score that is NaN", "a.run, line 2 | nan | fix:", a_run=line_2(RUN, "q1 Q0 d1 2 nan bm25")),
    data("a document twice in a run", "a.run, line 2 | d0 | fix:", a_run=line_2(RUN, "q1 Q0 d0 2 3.5 bm25")),
    data("the same run twice", "a:bm25 | a.run | fix:", config=CONFIG.replace("b.run", "a.run")),
    data("an empty run", "a.run | fix:", a_run=""),
    data("a missing run", "own.mine.runs | c.run", config=CONFIG.replace("b.run", "c.run")),
    data("qrels without overlap", "qrels.txt | fix:", qrels_txt=QRELS.replace("q", "topic")),
    data("a grade with a point", "qrels.txt, line 2 | 0.5 | cut real values", qrels_txt=line_2(QRELS, "q1 0 d1 0.5")),
    data("a pair judged twice", "qrels.txt, line 2 | d0 | fix:", qrels_txt=line_2(QRELS, "q1 0 d0 1")),
    data("the run in place of the qrels", "a.run, line 1 | fix:", config=CONFIG.replace("qrels.txt", "a.run")),
    data(
        "an unknown reference",
        "a.run, b.run: reference | bm52 | name a tag: bm25",
        config=CONFIG.replace("}}", ", reference: bm52}}"),
    ),
    data(
        "a fold file with an unknown query",
        "folds.txt | fix:",
        config=CONFIG.replace("}}", ", folds: folds.txt}}"),
        folds_txt="zz S1\n",
    ),
    data("ten folds", "own.mine.folds | less than or equal to 5", config=CONFIG.replace("}}", ", folds: 10}}")),
    data(
        "a split without dev",
        "qrels: dev is missing",
        config=CONFIG.replace("qrels.txt", "{train: qrels.txt, test: qrels.txt}"),
    ),
    data(
        "a split without test",
        "qrels: test is missing",
        config=CONFIG.replace("qrels.txt", "{train: qrels.txt, dev: qrels.txt}"),
    ),
    given("evaluate: no such file", "evaluate qrels.txt c.run", "c.run | No such file | fix:"),
    given("evaluate: qrels and run swapped", "evaluate a.run qrels.txt", "a.run | fix:"),
    given("evaluate: no query in common", "evaluate qrels.txt a.run", "a.run | fix:", a_run=RUN.replace("q", "x")),
    given("evaluate: unknown measure", "evaluate qrels.txt a.run --measure ndgc@10", "ndgc@10 | did you mean"),
    given("evaluate: a measure without its cutoff", "evaluate qrels.txt a.run --measure P", "P | @"),
    given("evaluate: unknown baseline", "evaluate qrels.txt a.run b.run --baseline bm52", "bm52 | bm25"),
    given(
        "evaluate: too few scores",
        "evaluate rows.txt s.txt",
        "s.txt | 2 | 1",
        rows_txt="1 qid:1 1:1\n0 qid:1 1:0\n",
        s_txt="1\n",
    ),
    given(
        "evaluate: a score that is a word",
        "evaluate rows.txt s.txt",
        "s.txt, line 2 | x | fix:",
        rows_txt="1 qid:1 1:1\n0 qid:1 1:0\n",
        s_txt="1\nx\n",
    ),
    given("evaluate: judgments as a run too", "evaluate qrels.txt qrels.txt", "the same file as judgments | fix:"),
    given("evaluate: a folder", "evaluate qrels.txt .", "Is a directory | fix:"),
    given("compare: no margin", "compare qrels.txt a.run b.run", "--margin"),
    given("compare: a run with itself", "compare qrels.txt a.run a.run --margin .01", "a.run | fix:"),
    given("compare: a margin below 0", "compare qrels.txt a.run b.run --margin -1", "margin | fix:"),
    given("fuse: one run", "fuse a.run", "at least two runs | fix:"),
    given(
        "fuse: weights of another number",
        "fuse a.run b.run --method weights --weights 1",
        "weights and runs do not match | 2 numbers | fix:",
    ),
    given(
        "fuse: no folder for the output", "fuse a.run b.run --output no/fused.run", "no: no such folder | mkdir -p no"
    ),
    given("advise: one run", "advise qrels.txt a.run", "two runs | fix:"),
]
