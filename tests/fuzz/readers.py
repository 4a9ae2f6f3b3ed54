"""Every reader of files that a user may bring: good files to begin from, and how they are read."""

import gzip
import json
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from qdrank.datasets import sources
from qdrank.datasets.collections.beir import read_beir
from qdrank.datasets.collections.smart import SmartForm, read_ohsumed, read_smart
from qdrank.datasets.importing import import_letor
from qdrank.datasets.letor import load_letor
from qdrank.datasets.runs.reading import read_qrels, read_run
from qdrank.evaluation.run_files import measured_files
from qdrank.measures import CONVENTIONS
from qdrank.store import read, tables, write
from qdrank.store.manifest import digests
from qdrank.workflow.config_files import load_sources, resolve
from qdrank.workflow.plan import plan


@dataclass(frozen=True)
class Reader:
    """Good files by name, how a folder of them is read, and words that the format knows."""

    files: Mapping[str, bytes]
    read: Callable[[Path], object]
    words: tuple[bytes, ...] = ()


LETOR = b"".join(b"%d qid:%d 1:%.3f 2:%d 3:0 #docid = D%d\n" % (i % 3, i // 3, i / 7, i, i) for i in range(9))
RUN = b"".join(b"q%d Q0 d%d %d %.2f mine\n" % (i // 3, i, i % 3 + 1, 1 - i / 9) for i in range(9))
QRELS = b"".join(b"q%d 0 d%d %d\n" % (i // 3, i, i % 3) for i in range(9))
CORPUS = b"".join(json.dumps({"_id": f"d{i}", "title": f"t{i}", "text": "a b"}).encode() + b"\n" for i in range(4))
QUERIES = b"".join(json.dumps({"_id": f"q{i}", "text": "a"}).encode() + b"\n" for i in range(2))
SMART = b".I 1\n.T\na title\n.A\nsomeone\n.W\nwords here\n.I 2\n.W\nmore words\n"
TOPICS = b"<top>\n<num> Number: OHSU1\n<title> a man\n<desc> Description:\nwhat to do\n</top>\n"
CONFIG = b"""datasets: [sim1, mine]
own:
  mine: {kind: simulated, like: sim1, settings: {seed: 2}}
neighbours: {metric: cosine}
evaluation: {resamples: 200}
missing: skip
"""
TABLE = b"""toy:
  kind: letor
  title: A toy
  publisher: Someone
  licence: None
  citation: Someone (2000).
  page: "https://example.org/"
  max_label: 2
  n_features: 2
  reference_feature: 1
  folds: rotation
  instruction: Open the page.
  files:
    - name: S1.txt
      part: S1
"""
NUMBERS = (b"nan", b"inf", b"-0", b"1e400", b"-1e-400", b"99999999999999999999", b"0x10", b"1_0", "٣".encode(), b"1e")
MARKS = (b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", "\u2028".encode(), "\u00a0".encode(), b"\t", b"\n\n", b" ", b'"')
YAML = (b"!!python/object/apply:os.system ['true']", b"&a [*a]", b"<<: 1", b"[", b"{a: b", b"~", b"- ", b"? ", b"1: ")


def artifact(folder: Path) -> bytes:
    """Bytes of a small judged artifact."""
    n = 6
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(2 * n, dtype=np.float32)), 2)
    table = pa.table(
        {
            "query_id": [f"q{i // 3}" for i in range(n)],
            "doc_id": [f"d{i}" for i in range(n)],
            "label": pa.array([i % 3 for i in range(n)], pa.int8()),
            "part": ["train"] * n,
            "features": vectors,
        }
    )
    write(folder / "seed.parquet", "judged", table)
    return (folder / "seed.parquet").read_bytes()


def _imported(folder: Path) -> object:
    """Import a LETOR file; a refused one leaves nothing."""
    out = folder / "out"
    out.mkdir()
    try:
        return import_letor(folder / "data.txt", out / "judged.parquet", n_parts=3)
    except Exception:
        assert not list(out.iterdir()), "a refused file left something"
        raise


def _planned(folder: Path) -> object:
    sources = load_sources([folder / "mine.yaml"])
    return plan(resolve(sources[0][1], sources))


def _resealed(folder: Path) -> object:
    """Read an artifact whose digest was made anew after the change, as someone with bad intent could."""
    path = folder / "judged.parquet"
    content = path.read_bytes()
    place = content.rfind(tables.KEY)
    if place >= 0:
        place = content.find(b"\x40", place) + 1
        path.write_bytes(content[:place] + tables.BLANK + content[place + 64 :])
        try:
            tables.seal(path)
        except ValueError:
            path.write_bytes(content)
    return read(path, "judged")


SMART_FORM = SmartForm("all", "qry", "rel")
SMART_FILES = {"all": SMART, "qry": b".I 1\n.W\na query\n", "rel": b"1 1 0 0.0\n1 2 0 0.0\n"}


def readers(folder: Path) -> dict[str, Reader]:
    """All readers by name; ``folder`` is for making the seeds that are no plain text."""
    parquet = artifact(folder)
    beir = {
        "corpus.jsonl": CORPUS,
        "queries.jsonl": QUERIES,
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq0\td1\t1\n",
    }
    ohsumed = {
        "ohsumed.88-91": b".I 1\n.U\n1\n.T\nt\n.W\nw\n",
        "query.ohsu.1-63": TOPICS,
        "qrels.ohsu.88-91": b"OHSU1 1 2\n",
    }
    letor_words = (b"qid:", b"#docid = ", b"1:", b"NULL", b"-1 ", b"999:1", *NUMBERS)
    json_words = (b"{}", b"[]", b'{"_id": 1}', b'"\\ud800"', b"[" * 5000, b"null", b'{"_id": "a", "_id": "b"}')
    return {
        "letor": Reader({"data.txt": LETOR}, lambda f: load_letor(f / "data.txt"), letor_words),
        "letor.gz": Reader({"data.txt.gz": gzip.compress(LETOR, mtime=0)}, lambda f: load_letor(f / "data.txt.gz")),
        "letor import": Reader({"data.txt": LETOR}, _imported, letor_words),
        "evaluate": Reader(
            {"data.txt": LETOR, "scores.txt": b"0.5\n" * 9},
            lambda f: list(measured_files(f / "data.txt", [f / "scores.txt"], CONVENTIONS["letor4"])[1]),
            letor_words,
        ),
        "run": Reader({"run": RUN}, lambda f: read_run(f / "run"), NUMBERS),
        "run.xz": Reader({"run.xz": lzma.compress(RUN)}, lambda f: read_run(f / "run.xz")),
        "qrels": Reader({"qrels": QRELS}, lambda f: read_qrels(f / "qrels"), NUMBERS),
        "beir": Reader(beir, read_beir, json_words),
        "smart": Reader(SMART_FILES, lambda f: read_smart(f, SMART_FORM), (b".I", b".I 1", b".W\n", b".X", *NUMBERS)),
        "ohsumed": Reader(ohsumed, read_ohsumed, (b"<top>", b"</top>", b"<num>", b".U", b".I 1", *NUMBERS)),
        "config": Reader({"mine.yaml": CONFIG}, _planned, YAML),
        "registry": Reader({"table.yaml": TABLE}, lambda f: sources.load(f / "table.yaml"), YAML),
        "store": Reader({"judged.parquet": parquet}, lambda f: read(f / "judged.parquet", "judged")),
        "store, sealed anew": Reader({"judged.parquet": parquet}, _resealed),
        "digest": Reader({"judged.parquet": parquet, "notes.txt": b"a"}, digests),
    }
