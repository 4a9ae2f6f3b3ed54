"""Mistakes on the command line, and with the models of a study."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from qdrank.datasets.judged import load_judged
from qdrank.datasets.simulated.features import write_simulated
from qdrank.queries.recipe import VectorOptions, describe_queries, document_vectors
from qdrank.rankers.documents import fold_documents
from qdrank.rankers.served import OneFeature, ServedRanker, write_ranker
from qdrank.store import read
from qdrank.store.tables import list_matrix
from tests.mistakes.planted import Mistake, command

NEW = "0 qid:1 1:0.5 2:0.1 3:1 4:0 #docid = a\n0 qid:1 1:0.2 2:0.3 3:1 4:0 #docid = b\n"
SERVED = (
    "results/sim/fold1/served/bm25.parquet",
    *(f"results/sim/{name}.parquet" for name in ("judged", "columns", "topics")),
)


def served() -> None:
    """A fold's results with one method, bm25, of four features."""
    files = {name: Path(f"results/sim/{name}.parquet") for name in ("judged", "columns", "topics")}
    write_simulated(files, like="sim1", seed=3, train=12, vali=4, test=4, features=4)
    judged, topics = load_judged(files["judged"]), read(files["topics"], "topics")
    options = VectorOptions(top=5, pooling="mean", view="given", query_columns=False, scale="zscore")
    queries, scaler = describe_queries(judged, topics, 2, "fold1", options)
    recipe = document_vectors(options, scaler, topics, reference=2, missing=False)
    documents = fold_documents(judged, "fold1")
    vectors = list_matrix(queries.column("vector"))
    ranker = OneFeature(column=2).fit(documents.seen("train"), np.asarray(vectors[:12]))
    write_ranker(
        SERVED[0], ServedRanker(method="bm25", fold="fold1", documents=documents.view(), queries=recipe, ranker=ranker)
    )


def rank(name: str, words: str, says: str, new: str | bytes = NEW, before: Callable[[], object] = served) -> Mistake:
    """A mistake in ``qdrank rank``, with a served method."""

    def makes() -> str:
        before()
        return command("rank", *words.split())()

    return Mistake(name, makes, says, {"new.txt": new}, SERVED)


def damaged() -> None:
    """The results, with one byte of the method's file changed."""
    served()
    content = bytearray(Path(SERVED[0]).read_bytes())
    content[len(content) // 2] ^= 1
    Path(SERVED[0]).write_bytes(bytes(content))


FOLD = "--models results/sim/fold1 --method bm25"
COMMANDS = [
    rank("rank: no such folder", "--models results/sm/fold1 --input new.txt", "results/sm/fold1 | fix:"),
    rank(
        "rank: the data set's folder, not a fold's",
        "--models results/sim --input new.txt",
        "results/sim | fold1 | fix:",
    ),
    rank(
        "rank: unknown method", "--models results/sim/fold1 --input new.txt --method bm52", "bm52 | did you mean bm25?"
    ),
    rank(
        "rank: no method, and not the default one",
        "--models results/sim/fold1 --input new.txt",
        "knn-offline1, the default method, is not here | name one of the methods that are: bm25",
    ),
    rank("rank: no such input", f"{FOLD} --input nw.txt", "nw.txt | fix:"),
    rank(
        "rank: features of another set",
        f"{FOLD} --input new.txt",
        "new.txt | has 2 features | know 4 | fix:",
        new="0 qid:1 1:0 2:1\n",
    ),
    rank(
        "rank: a broken row", f"{FOLD} --input new.txt", "new.txt, line 2 | 1:x | fix:", new=NEW.replace("1:0.2", "1:x")
    ),
    rank("rank: an empty input", f"{FOLD} --input new.txt", "new.txt | no rows | fix:", new=""),
    rank("rank: other settings than the study's", f"{FOLD} --input new.txt --k 5", "bm25 | fix:"),
    rank(
        "rank: no folder for the output",
        f"{FOLD} --input new.txt --output no/run.txt",
        "no: no such folder | mkdir -p no",
    ),
    rank("rank: a damaged file of models", f"{FOLD} --input new.txt", "bm25.parquet | fix:", before=damaged),
    Mistake(
        "features: no results there",
        command("features", "--data", "results/mine", "--queries", "q.tsv", "--output", "x.txt"),
        "config.yaml | fix:",
        {"q.tsv": "1\tegg\n"},
    ),
    Mistake(
        "export: no such folder",
        command("export", "--models", "results/m/fold1", "--method", "single", "--format", "solr"),
        "results/m/fold1 | fix:",
    ),
    Mistake("digest: no such folder", command("digest", "nowhere"), "nowhere | no such folder"),
    Mistake("digest --check: no manifest", command("digest", "--check", "."), "manifest.json | fix:"),
    Mistake(
        "findings: not a file of findings",
        command("findings", "lin.parquet"),
        "lin.parquet | fix:",
        {"lin.parquet": "x"},
    ),
    Mistake("findings: no such file", command("findings", "lin.parquet"), "lin.parquet | no such file"),
    Mistake("datasets: unknown name", command("datasets", "mq2009"), "mq2009 | did you mean mq2008?"),
    Mistake("init: a folder that has a Snakefile", command("init", "."), "Snakefile | fix:", {"Snakefile": ""}),
    Mistake("run: no such configuration", command("run", "mine.yml"), "mine.yml | no such | fix:"),
    Mistake("an unknown command", command("evalute"), "evalute | evaluate"),
    Mistake("an unknown option", command("rank", "--model", "x", "--inputs", "y"), "--input"),
]
