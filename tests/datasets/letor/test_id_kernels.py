"""Names of queries and documents in LETOR text, against Python's own strings."""

from __future__ import annotations

import re
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.datasets.letor.id_kernels import (
    document_bounds,
    document_text,
    hash_names,
    n_decimal_digits,
    query_bounds,
    same_query,
    widest_index,
)
from qdrank.datasets.letor.kernels import DOC, DOC_END, N_RECORD, QID, QID_END

NAMES = st.text(st.sampled_from("ab1-"), min_size=1, max_size=3)


def records_of(rows):
    """Bytes and records of rows of (query, document): where the two names are."""
    data, records = b"", np.zeros((len(rows), N_RECORD), dtype=np.int64)
    for record, (query, document) in zip(records, rows, strict=True):
        record[QID], record[QID_END] = len(data), len(data) + len(query)
        data += query.encode()
        record[DOC], record[DOC_END] = len(data), len(data) + len(document)
        data += document.encode() + b"\n"
    return np.frombuffer(data, dtype=np.uint8), records


@given(st.lists(st.tuples(NAMES, st.one_of(st.just(""), NAMES)), min_size=1, max_size=12), st.integers(0, 120))
def test_names_and_bounds_are_those_of_strings(rows, n_before):
    data, records = records_of(rows)
    runs = [list(run) for _, run in groupby(rows, key=lambda row: row[0])]
    bounds = query_bounds(data, records)
    assert bounds.tolist() == np.cumsum([0, *map(len, runs)]).tolist()
    names = []
    for number, run in enumerate(runs):
        before = n_before if number == 0 else 0
        names += [document or f"{query}-{before + place}" for place, (query, document) in enumerate(run, start=1)]
    offsets = document_bounds(records, bounds, n_before)
    text = document_text(data, records, bounds, offsets, n_before).tobytes().decode()
    assert [text[a:b] for a, b in pairwise(offsets)] == names


def test_a_query_is_not_the_beginning_of_another():
    data, (a, b, c) = records_of([("q1", ""), ("q12", ""), ("q1", "")])
    assert not same_query(data, a, b)
    assert same_query(data, a, c)


def fnv(text):
    """FNV-1a with 64 bits, as it is published."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_hashes_are_fnv_1a():
    names = [b"", b"a", b"foobar", "Größe".encode()]
    text = np.frombuffer(b"".join(names), dtype=np.uint8).copy()
    offsets = np.cumsum([0, *map(len, names)])
    assert hash_names(text, offsets).tolist() == [fnv(name) for name in names]
    assert fnv(b"a") == 0xAF63DC4C8601EC8C  # a published value


@pytest.mark.parametrize("number", [1, 9, 10, 99, 100, 12345])
def test_digits_are_counted(number):
    assert n_decimal_digits(number) == len(str(number))


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:7 1:0.5 12:3 #docid = 99:1\n",
        "# 88:1 in a comment\n0 qid:5 3:1\n\n  2 qid:5 2:1 7:NULL\n",
        "0 qid:1 #nothing\n",
        "0 qid:77:5 4:1\t6:2\r\n",
    ],
)
def test_the_widest_feature_is_that_of_a_pattern(text):
    tokens = [token for line in text.splitlines() for token in line.partition("#")[0].split()]
    expected = max((int(one[1]) for token in tokens if (one := re.match(r"(\d+):", token))), default=0)
    assert widest_index(np.frombuffer(text.encode(), dtype=np.uint8)) == expected
