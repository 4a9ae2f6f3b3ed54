"""NFCorpus (Boteva et al., ECIR 2016): texts as BEIR has them, judgments of the original archive in three grades.

Judgments: 3 direct link, 2 indirect link, 1 marginal (shared topic). BEIR's own are flattened to 1 in training; they
are read for comparison with published figures only. Seven queries that BEIR lost come from the original titles.
Kinds of queries, by the pages of NutritionFacts.org that they title: ``topic``, ``video``, ``page`` (blog posts,
questions).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from qdrank.datasets.collections import beir, files, trec
from qdrank.datasets.collections.model import Collection, Judgment, Notebook, Query, assemble, with_splits
from qdrank.errors import InputError


def read_nfcorpus(folder: Path, *, qrels: Literal["3-2-1", "2-1-0", "beir"] = "3-2-1") -> Collection:
    """Read NFCorpus from ``folder`` with its subfolders ``beir`` and ``original``.

    ``qrels``: {"3-2-1", "2-1-0", "beir"}; which judgments; with ``"beir"`` also exactly BEIR's queries.
    """
    folder, book = Path(folder), Notebook()
    if qrels not in ("3-2-1", "2-1-0", "beir"):
        raise InputError(f"unknown judgments {qrels!r}", fix="allowed: 3-2-1, 2-1-0, beir")
    asked = list(beir.read_queries(folder / "beir" / "queries.jsonl"))
    if qrels != "beir":
        asked += _missing(folder, {query.query_id for query in asked}, book)
    asked = _typed(asked, folder)
    judgments: list[Judgment] = []
    for split in beir.SPLITS:
        of_split = list(_judgments(folder, split, qrels))
        asked = with_splits(asked, of_split, split)
        judgments += of_split
    corpus = _corpus(folder / "beir")
    return assemble(beir.read_corpus(corpus, book), asked, judgments, book, corpus)


def _corpus(folder: Path) -> Path:
    """BEIR's corpus.jsonl; one public copy calls it human.jsonl."""
    other = folder / "human.jsonl"
    return other if files.find(other) else folder / "corpus.jsonl"


def _judgments(folder: Path, split: str, qrels: str) -> Iterator[Judgment]:
    if qrels == "beir":
        flat = folder / "beir" / f"{split}.tsv"
        return beir.read_beir_judgments(flat if files.find(flat) else folder / "beir" / "qrels" / f"{split}.tsv")
    return trec.read_judgments(folder / "original" / f"{split}.{qrels}.qrel")


def _missing(folder: Path, known: set[str], book: Notebook) -> list[Query]:
    """Queries of the original archive that BEIR does not have, by their (lowercased) titles."""
    lost = []
    for split in beir.SPLITS:
        path = folder / "original" / f"{split}.titles.queries"
        for number, line in files.lines(path):
            query_id, tab, text = line.partition("\t")
            if not tab:
                raise InputError("no tab after the query's id", file=path, line=number, found=line)
            if query_id not in known:
                book.add("query missing in BEIR, text from the original titles", query_id, path)
                lost.append(Query(query_id, text))
    return lost


def _typed(queries: list[Query], folder: Path) -> list[Query]:
    videos = {columns[0] for _, columns in files.rows(folder / "original" / "all_videos.ids", (1,))}
    pages = {columns[0] for _, columns in files.rows(folder / "original" / "nontopics.ids", (1,))}

    def kind(query_id: str) -> str:
        if query_id in videos:
            return "video"
        return "page" if query_id in pages else "topic"

    return [Query(query.query_id, query.text, kind(query.query_id)) for query in queries]
