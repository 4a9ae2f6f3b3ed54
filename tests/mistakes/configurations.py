"""Mistakes in a configuration file."""

from tests.mistakes.planted import CHECK, Mistake, command

ROWS = "".join(
    f"{label} qid:{query} 1:{label}.5 2:0.{query} #docid = {query}-{label}\n"
    for query in range(1, 31)
    for label in (0, 1)
)
LETOR = "datasets: [mine]\nown: {mine: {kind: letor, files: {all: rows.txt}, reference: 1}}\n"


def config(name: str, text: str, says: str, **files: str) -> Mistake:
    """A mistake in mine.yaml, which names good rows in rows.txt unless it says otherwise."""
    more = {file.replace("_", "."): content for file, content in files.items()}
    return Mistake(name, CHECK, says, {"mine.yaml": text, "rows.txt": ROWS, **more})


CONFIGURATIONS = [
    Mistake("no such configuration file", CHECK, "mine.yaml: no such configuration file | fix:"),
    config("misspelt key", "datasts: [sim1]\n", "mine.yaml: datasts: unknown key; did you mean datasets?"),
    config(
        "misspelt key of a section", LETOR + "geng: {lambda: [1]}\n", "geng.lambda: unknown key; did you mean lambdas?"
    ),
    config("key of another tool", LETOR + "epochs: 3\n", "mine.yaml: epochs: unknown key | allowed: beyond"),
    config(
        "unknown data set", "datasets: [mq2009]\n", "mine.yaml: datasets.0 | mq2009 | did you mean | `qdrank datasets`"
    ),
    config(
        "data set not under own", "datasets: [mine]\n", "mine.yaml: datasets.0: unknown data set 'mine' | under own:"
    ),
    config(
        "own data set that is not listed", LETOR.replace("[mine]", "[sim1]"), "own.mine is not run: datasets does not"
    ),
    config("an unknown study", "studies: [gang]\n", "mine.yaml: studies.0 | unknown study; did you mean geng?"),
    config("a study twice", "studies: [lin, lin]\n", "mine.yaml: studies: each name may be listed once"),
    config("a string for a list", "datasets: sim1\n", "mine.yaml: datasets | list | 'sim1'"),
    config("an empty list", "datasets: []\n", "mine.yaml: datasets | at least 1 item"),
    config("a data set twice", "datasets: [sim1, sim1]\n", "mine.yaml: datasets: each name may be listed once | sim1"),
    config("tabs in YAML", "datasets:\n\t- sim1\n", "mine.yaml, line 2: not YAML | fix: | tab"),
    config("a bracket is not closed", "datasets: [sim1\nseed: 1\n", "mine.yaml, line 2: not YAML | fix:"),
    config("a key twice", "seed: 1\nseed: 2\n", "mine.yaml, line 2 | seed | keep one of the two"),
    config("a list instead of keys", "- sim1\n", "mine.yaml: a configuration is a mapping | fix:"),
    config("an empty file", "", "mine.yaml | fix:"),
    config("a word for a number", "seed: one\n", "mine.yaml: seed | integer | 'one'"),
    config("a negative number", "seed: -1\n", "mine.yaml: seed | greater than or equal to 0"),
    config("a share above 1", "text: {b: 2}\n", "mine.yaml: text.b | less than or equal to 1"),
    config("an unknown choice", "text: {stop_words: english}\n", "text.stop_words | 'snowball', 'lucene' or 'none'"),
    config(
        "an unknown stemmer",
        "datasets: [cranfield]\ntext: {stemmer: englsh}\n",
        "mine.yaml: text.stemmer | did you mean english?",
    ),
    config("an unknown learner", "learners: {methods: [ranksvn]}\n", "learners.methods | did you mean ranksvm?"),
    config(
        "a grid of no method", "learners: {grids: {ranksvn: {lam: [1]}}}\n", "learners.grids | did you mean ranksvm?"
    ),
    config(
        "a learner of one's own whose file is missing",
        LETOR + "learners: {own: {best: best.py:Best}}\n",
        "mine.yaml: learners.own.best: there is no file best.py | FILE.py:CLASS",
    ),
    config(
        "a learner of one's own whose class is missing",
        LETOR + "learners: {own: {best: best.py:Best}}\n",
        "mine.yaml: learners.own.best: there is no class Best | did you mean Beast?",
        best_py="class Beast: pass\n",
    ),
    config(
        "a learner of one's own that does not predict",
        LETOR + "learners: {own: {best: best.py:Best}}\n",
        "mine.yaml: learners.own.best: Best has no predict | one score for each row",
        best_py="class Best:\n    def fit(self, X, y): pass\n",
    ),
    config(
        "a learner of one's own with the name of ours",
        LETOR + "learners: {own: {ranksvm: best.py:Best}}\n",
        "mine.yaml: learners.own.ranksvm: there is a method of this name already",
        best_py="class Best: pass\n",
    ),
    config(
        "a learner that no package brings",
        LETOR + "learners: {own: {best: best}}\n",
        "mine.yaml: learners.own.best: no installed package brings the learner 'best'",
    ),
    config(
        "a setting that a learner does not have",
        "learners: {grids: {ranksvm: {depth: [1]}}}\n",
        "mine.yaml: learners.grids.ranksvm.depth: ranksvm has no such parameter | lam",
    ),
    config(
        "a key of another section", "queries: {metric: cosine}\n", "queries.metric | did you mean neighbours.metric?"
    ),
    config("an unknown metric", "neighbours: {metric: euclidian}\n", "neighbours.metric | euclidean"),
    config("a fold that there is not", "folds: [fold6]\n", "mine.yaml: folds.0 | 'fold5'"),
    config("an unknown kind", LETOR.replace("letor", "svmlight"), "own.mine.kind: unknown kind 'svmlight' | letor"),
    config("no kind", "datasets: [mine]\nown: {mine: {files: {all: rows.txt}}}\n", "own.mine.kind: required | letor"),
    config("no reference", LETOR.replace(", reference: 1", ""), "mine.yaml: own.mine.reference: required"),
    config("reference 0", LETOR.replace("reference: 1", "reference: 0"), "own.mine.reference | greater than"),
    config(
        "reference 99",
        LETOR.replace("reference: 1", "reference: 99"),
        "mine.yaml: own.mine.reference: the data have 2 | 1 to 2",
    ),
    config("unknown part", LETOR.replace("all:", "training:"), "own.mine.files | train, vali and test"),
    config(
        "train and test without vali",
        LETOR.replace("all: rows.txt", "train: rows.txt, test: test.txt"),
        "own.mine.files: train and test need vali | awk",
    ),
    config(
        "train and vali are one file",
        LETOR.replace("all: rows.txt", "train: rows.txt, vali: ./rows.txt, test: test.txt"),
        "mine.yaml: own.mine.files: train and vali are the same file | fix:",
        test_txt=ROWS,
    ),
    config(
        "a file that is missing", LETOR.replace("rows", "row"), "mine.yaml: own.mine.files.all: no such file | row.txt"
    ),
    config(
        "a folder for a file", LETOR.replace("rows.txt", "."), "mine.yaml: own.mine.files.all: a folder, not a file"
    ),
    config(
        "fewer names than features",
        LETOR.replace("}}", ", names: [bm25]}}"),
        "mine.yaml: own.mine.names: 1 names for 2 features",
    ),
    config("max_label 100", LETOR.replace("}}", ", max_label: 100}}"), "own.mine.max_label | 62"),
    config(
        "BEIR folder that is missing",
        "datasets: [mine]\nown: {mine: {kind: beir, folder: beir}}\n",
        "own.mine.folder | beir",
    ),
    config(
        "BEIR folder without files",
        "datasets: [mine]\nown: {mine: {kind: beir, folder: beir}}\n",
        "beir/corpus.jsonl: there is no such file | fix:",
        **{"beir/note_txt": ""},
    ),
    config(
        "a setting that a simulation does not have",
        "datasets: [mine]\nown: {mine: {kind: simulated, like: sim1, settings: {trains: 3}}}\n",
        "own.mine.settings | trains | did you mean train?",
    ),
    config("a measure that there is not", "evaluation: {conventions: [ndcg]}\n", "evaluation.conventions"),
    config(
        "a study on a data set that is not run",
        LETOR + "geng: {datasets: [mq2008]}\n",
        "geng.datasets: mq2008 is not run",
    ),
    Mistake(
        "check of two files, one missing",
        command("config", "check", "mine.yaml", "more.yaml"),
        "more.yaml: no such",
        {"mine.yaml": LETOR},
    ),
]
