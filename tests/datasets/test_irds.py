"""Collections of ir_datasets: from files alone, with the judgments of our own readers; nothing is downloaded or taken on trust."""

from __future__ import annotations

import hashlib
import lzma
import socket
import tarfile
import zipfile
from importlib.util import find_spec
from io import BytesIO

import pytest

from qdrank.datasets.collections.beir import read_nfcorpus
from qdrank.datasets.collections.irds import _library, read_irds
from qdrank.datasets.collections.smart import read_smart
from qdrank.errors import InputError

# Not imported here: our reader gives it a home of its own first.
pytestmark = pytest.mark.skipif(
    find_spec("ir_datasets") is None, reason="ir_datasets is not installed: pip install 'qdrank[irds]'"
)

CRANFIELD, NFCORPUS = "cranfield/cran.tar.gz", "beir/nfcorpus/source.zip"


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.fixture(scope="module")
def home(mirror, tmp_path_factory):
    """The mirror's files, packed as their publishers pack them."""
    folder = tmp_path_factory.mktemp("home")
    for name in (CRANFIELD, NFCORPUS):
        (folder / name).parent.mkdir(parents=True)
    with tarfile.open(folder / CRANFIELD, "w:gz") as archive:
        for name in ("cran.all.1400", "cran.qry", "cranqrel"):
            content = lzma.decompress((mirror / "raw/cranfield" / f"{name}.xz").read_bytes())
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))
    members = {"corpus.jsonl": "human.jsonl", "queries.jsonl": "queries.jsonl"}
    members |= {f"qrels/{split}.tsv": f"{split}.tsv" for split in ("train", "dev", "test")}
    with zipfile.ZipFile(folder / NFCORPUS, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, source in members.items():
            content = lzma.decompress((mirror / "raw/nfcorpus/beir" / f"{source}.xz").read_bytes())
            heading = b"query-id\tcorpus-id\tscore\n"
            if name.endswith(".tsv") and not content.startswith(heading.split(b"\t")[0]):
                content = heading + content
            archive.writestr(f"nfcorpus/{name}", content)
    return folder


@pytest.fixture(scope="module")
def md5(home):
    return {name: hashlib.md5((home / name).read_bytes()).hexdigest() for name in (CRANFIELD, NFCORPUS)}


def judged(collection):
    """Query, document and grade of every judgment."""
    queries = [query.query_id for query in collection.queries]
    rows = zip(collection.qrels.query, collection.qrels.document, collection.qrels.grade, strict=True)
    return {(queries[q], collection.documents.doc_id[d]): g for q, d, g in rows}


def test_cranfield_has_our_judgments(home, md5, mirror):
    """The library passes the codes on, of which 1 is best; as in our reader the grade is 5 - code, and the notes say so."""
    theirs = read_irds(home, id="cranfield", md5=md5)
    ours = read_smart(mirror / "raw/cranfield", "cranfield")
    assert judged(theirs) == judged(ours)
    assert theirs.documents.doc_id == ours.documents.doc_id
    assert any("5 - code" in note.kind for note in theirs.notes)


def test_nfcorpus_has_our_judgments_and_splits(home, md5, mirror):
    theirs = read_irds(home, id="beir/nfcorpus", md5=md5)
    ours = read_nfcorpus(mirror / "raw/nfcorpus", qrels="beir")
    assert judged(theirs) == judged(ours)
    assert {q.query_id: (q.text, q.split) for q in theirs.queries} == {
        q.query_id: (q.text, q.split) for q in ours.queries
    }
    assert theirs.documents.fields == ours.documents.fields
    # No pickled store of documents was made, and nothing beside the user's files.
    assert sorted(path.name for path in home.rglob("*") if path.is_file()) == ["cran.tar.gz", "source.zip"]
    assert not list(_library()[1].rglob("*.pklz4*"))


def test_what_is_missing_is_named_with_its_place(tmp_path):
    with pytest.raises(
        InputError,
        match=r"files of vaswani are missing\n.*put there:\n.*/vaswani/npl\.tar\.gz \(md5 23e5\w+\) from http",
    ):
        read_irds(tmp_path, id="vaswani")
    with pytest.raises(InputError, match=r"beir/scifact/source\.zip"):
        read_irds(tmp_path, id="beir/scifact")


def test_another_file_is_refused(tmp_path):
    (tmp_path / "vaswani").mkdir()
    (tmp_path / "vaswani/npl.tar.gz").write_bytes(b"something else")
    with pytest.raises(
        InputError, match=r"not the file that ir_datasets describes\n  found: md5 6c7ba9c5a141421e1c03cb9807c97c74"
    ):
        read_irds(tmp_path, id="vaswani")


@pytest.mark.parametrize(("name", "said"), [("cranfeld", "did you mean cranfield"), ("antique/none", "no data set")])
def test_an_unknown_id(tmp_path, name, said):
    with pytest.raises(InputError, match=said):
        read_irds(tmp_path, id=name)
