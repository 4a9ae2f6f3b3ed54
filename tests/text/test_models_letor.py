"""The rank models against LETOR 3.0's OHSUMED: the publisher's values from the publisher's term counts."""

from __future__ import annotations

import lzma
import tarfile
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from qdrank.text.constants import OHSUMED
from qdrank.text.matches import Matches
from qdrank.text.models import MODELS

N_QUERIES = 6
STREAMS = ("1", "2", "3")  # title, abstract, both
ORDER = [f"L{i}" for i in range(1, 11)] + ["H1", "H2", "H3", "H4", "H5"]


def numbers(element: ET.Element, tag: str) -> float:
    return float(element.findtext(tag))


def stream_of(element: ET.Element, stream: str) -> ET.Element:
    return next(s for s in element.findall("stream") if s.findtext("streamid") == stream)


def matches_of(query: ET.Element, collection: ET.Element, stream: str) -> tuple[list[str], Matches]:
    """Matches of every document of a query in one stream, from the counts of the meta data."""
    terms = [stream_of(term, stream) for term in query.find("terminfo").findall("term")]
    documents = query.find("docinfo").findall("doc")
    own = [stream_of(document, stream) for document in documents]
    tf = np.array([[numbers(term, "termfrequency") for term in document.findall("term")] for document in own])
    n_documents, n_tokens = numbers(collection, "docnum"), numbers(stream_of(collection, stream), "totaltermnum")
    return [document.findtext("docid") for document in documents], Matches(
        pair=np.repeat(np.arange(len(own)), len(terms)),
        tf=tf.ravel(),
        qtf=np.ones(tf.size),
        df=np.tile([numbers(term, "streamfrequency") for term in terms], len(own)),
        cf=np.tile([numbers(term, "streamtermfrequency") for term in terms], len(own)),
        length=np.array([numbers(document, "length") for document in own]),
        distinct=np.array([numbers(document, "uniquelength") for document in own]),
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
        for number in range(1, N_QUERIES + 1):
            query = ET.parse(archive.extractfile(f"Meta/query-{number}.xml")).getroot()
            for place, stream in enumerate(STREAMS):
                names, matches = matches_of(query, collection, stream)
                values = np.column_stack([MODELS[name](matches) for name in ORDER])
                theirs = np.array([published[str(number), name][15 * place : 15 * place + 15] for name in names])
                # Where nothing matches, LETOR had no value and put the query's least: nothing to compare with.
                met = MODELS["L1"](matches) > 0
                assert np.allclose(values[met], theirs[met], rtol=0, atol=2e-5)
                compared += int(met.sum())
    assert compared > 1500
