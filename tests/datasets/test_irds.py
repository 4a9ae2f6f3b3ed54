import lzma
import tarfile
import zipfile
from importlib.util import find_spec
from io import BytesIO

import pytest

from qdrank.datasets.collections.beir import read_nfcorpus
from qdrank.datasets.collections.irds import read_irds
from qdrank.datasets.collections.smart import read_smart
from qdrank.errors import InputError

pytestmark = pytest.mark.skipif(
    find_spec("ir_datasets") is None, reason="ir_datasets is not installed: pip install 'qdrank[irds]'"
)

CRANFIELD, NFCORPUS = "cranfield/cran.tar.gz", "beir/nfcorpus/source.zip"


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


def judged(collection):
    """Query, document and grade of every judgment."""
    queries = [query.query_id for query in collection.queries]
    rows = zip(collection.qrels.query, collection.qrels.document, collection.qrels.grade, strict=True)
    return {(queries[q], collection.documents.doc_id[d]): g for q, d, g in rows}


def test_cranfield_has_our_judgments(home, mirror):
    """The library passes the codes on, of which 1 is best; as in our reader the grade is 5 - code, and the notes say so."""
    theirs = read_irds(home, id="cranfield")
    ours = read_smart(mirror / "raw/cranfield", "cranfield")
    assert judged(theirs) == judged(ours)
    assert theirs.documents.doc_id == ours.documents.doc_id
    assert any("5 - code" in note.kind for note in theirs.notes)


def test_nfcorpus_has_our_judgments_and_splits(home, mirror):
    theirs = read_irds(home, id="beir/nfcorpus")
    ours = read_nfcorpus(mirror / "raw/nfcorpus", qrels="beir")
    assert judged(theirs) == judged(ours)
    assert {q.query_id: (q.text, q.split) for q in theirs.queries} == {
        q.query_id: (q.text, q.split) for q in ours.queries
    }
    assert theirs.documents.fields == ours.documents.fields


def test_files_that_cannot_be_read(home):
    (home / "vaswani").mkdir()
    (home / "vaswani/npl.tar.gz").write_bytes(b"something else")
    with pytest.raises(InputError, match=r"ir_datasets cannot read vaswani\n  found: not a gzip"):
        read_irds(home, id="vaswani")


@pytest.mark.parametrize(("name", "said"), [("cranfeld", "did you mean cranfield"), ("antique/none", "no data set")])
def test_an_unknown_id(home, name, said):
    with pytest.raises(InputError, match=said):
        read_irds(home, id=name)


def test_a_second_home_is_refused(home, tmp_path):
    read_irds(home, id="cranfield")
    with pytest.raises(InputError, match="in use with another folder"):
        read_irds(tmp_path, id="cranfield")
