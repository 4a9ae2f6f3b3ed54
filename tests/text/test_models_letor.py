"""The rank models against LETOR 3.0's OHSUMED: the publisher's values from the publisher's term counts."""

import lzma
import tarfile
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from qdrank.text.models import MODELS, OHSUMED, Matches

# Some plain queries, one that repeats a word (22), two with a BM25 under 1 (36, 49). All 106 pass, in half a minute.
QUERIES = (1, 2, 3, 22, 36, 49)
STREAMS = ("1", "2", "3")  # title, abstract, both
ORDER = [f"L{i}" for i in range(1, 11)] + ["H1", "H2", "H3", "H4", "H5"]


def numbers(element: ET.Element, tag: str) -> float:
    return float(element.findtext(tag))


def stream_of(element: ET.Element, stream: str) -> ET.Element:
    return next(s for s in element.findall("stream") if s.findtext("streamid") == stream)


def matches_of(query: ET.Element, collection: ET.Element, stream: str) -> tuple[list[str], Matches]:
    """Matches of every document of a query in one stream, from the counts of the meta data."""
    terms = query.find("terminfo").findall("term")
    # The meta data list a word as often as the query has it.
    _, first, times = np.unique([term.findtext("word") for term in terms], return_index=True, return_counts=True)
    own = [stream_of(terms[place], stream) for place in first]
    documents = query.find("docinfo").findall("doc")
    fields = [stream_of(document, stream) for document in documents]
    tf = np.array([[numbers(term, "termfrequency") for term in field.findall("term")] for field in fields])[:, first]
    n_documents, n_tokens = numbers(collection, "docnum"), numbers(stream_of(collection, stream), "totaltermnum")
    return [document.findtext("docid") for document in documents], Matches(
        pair=np.repeat(np.arange(len(fields)), len(own)),
        term=np.tile(np.arange(len(own)), len(fields)),
        tf=tf.ravel(),
        qtf=np.tile(times, len(fields)).astype(float),
        df=np.tile([numbers(term, "streamfrequency") for term in own], len(fields)),
        cf=np.tile([numbers(term, "streamtermfrequency") for term in own], len(fields)),
        length=np.array([numbers(field, "length") for field in fields]),
        distinct=np.array([numbers(field, "uniquelength") for field in fields]),
        n_documents=int(n_documents),
        n_tokens=n_tokens,
        mean_length=n_tokens / n_documents,
        constants=OHSUMED,
    )


@pytest.fixture(scope="module")
def published(mirror) -> dict[tuple[str, str], np.ndarray]:
    rows = {}
    for path in sorted((mirror / "ohsumed-letor/Feature-min").glob("S*.txt.xz")):
        with lzma.open(path, "rt") as handle:
            for line in handle:
                values, _, doc = line.partition("#docid = ")
                _, qid, *features = values.split()
                rows[qid[4:], doc.strip()] = np.array([float(value.partition(":")[2]) for value in features])
    return rows


@pytest.mark.mirror
def test_letors_values_come_out_to_all_printed_digits(mirror, published):
    compared = 0
    with tarfile.open(mirror / "ohsumed-letor/Meta.tar.xz") as archive:
        collection = ET.parse(archive.extractfile("Meta/collectioninfo.xml")).getroot()
        for number in QUERIES:
            query = ET.parse(archive.extractfile(f"Meta/query-{number}.xml")).getroot()
            for place, stream in enumerate(STREAMS):
                names, matches = matches_of(query, collection, stream)
                values = np.column_stack([MODELS[name](matches) for name in ORDER])
                theirs = np.array([published[str(number), name][15 * place : 15 * place + 15] for name in names])
                # Where nothing matches, LETOR had no value and put the query's least: nothing to compare with.
                met = MODELS["L1"](matches) > 0
                theirs[:, ORDER.index("H2")] = np.maximum(theirs[:, ORDER.index("H2")], 0.0)  # our guard
                assert np.allclose(values[met], theirs[met], rtol=0, atol=2e-5)
                compared += int(met.sum())
    assert compared > 1500
