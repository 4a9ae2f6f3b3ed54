"""Byte-level parsing of LETOR text, compiled.

Every function walks over ``data``, bytes of whole lines of which the last byte is a line feed: no function passes
a line feed, so none needs to look for the end of the data. Positions are indices into ``data``.

Numbers are rounded as ``np.float32(float(text))`` rounds them. A decimal of up to 15 digits and a small power of
ten is exact in double precision (Clinger 1990). Any other is computed with a relative error below 2**-51, which
settles its nearest float32 unless a boundary between two of them is within that error; such a number, about one
in 10**7, is left to the caller (`HARD`).
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Floats = NDArray[np.float32]

# How a row can fail; `qdrank.datasets.letor.parser` has the words.
OK, BAD_LABEL, NEGATIVE_LABEL, LARGE_LABEL, NO_QID, BAD_QID, BAD_FEATURE, ZERO_INDEX, UNORDERED, LARGE_INDEX = range(10)
GAP, SHORT, BAD_VALUE, NOT_FINITE, OVERFLOW, MISSING, BAD_DOCID = range(10, 17)

# What a value can be.
NUMBER, HARD, ABSENT, INFINITE, NAMED, MALFORMED = range(6)

# Columns of the records of rows and of the numbers left to the caller.
LINE, LABEL, QID, QID_END, DOC, DOC_END, N_RECORD = range(7)
ROW, COLUMN, TEXT, TEXT_END, N_HARD = range(5)

_POWERS = np.array([float(f"1e{k}") for k in range(81)])
# A mantissa below this takes one more digit without leaving int64.
_ROOM = 900_000_000_000_000_000
_SLACK = 2.0**-50


@njit(cache=True)
def is_blank(c: int) -> bool:
    """Whether ``c`` separates tokens within a line."""
    return c == 32 or c == 9


@njit(cache=True)
def ends_token(c: int) -> bool:
    """Whether ``c`` ends a token: blank, end of line, or the start of a comment."""
    return c == 32 or c == 10 or c == 9 or c == 13 or c == 35


@njit(cache=True)
def skip_blanks(data: Bytes, at: int) -> int:
    """Position of the next byte that is no blank."""
    while is_blank(data[at]):
        at += 1
    return at


@njit(cache=True)
def skip_line(data: Bytes, at: int) -> int:
    """Position behind the next line feed."""
    while data[at] != 10:
        at += 1
    return at + 1


@njit(cache=True)
def at_line_end(data: Bytes, at: int) -> bool:
    """Whether a line ends here, as LF or CRLF."""
    return bool(data[at] == 10 or (data[at] == 13 and data[at + 1] == 10))


@njit(cache=True)
def round_decimal(mantissa: int, power: int, cut: bool) -> tuple[float, int]:
    """Nearest float32 of ``mantissa * 10**power`` (more digits follow if ``cut``), and its kind."""
    if mantissa == 0 or power < -80:  # below 1e-61: nothing in float32
        return 0.0, NUMBER
    if power > 60:
        return 0.0, INFINITE
    value = mantissa / _POWERS[-power] if power < 0 else mantissa * _POWERS[power]
    if not cut and mantissa <= 9007199254740992 and -22 <= power <= 22:
        low = high = np.float32(value)
    else:
        low, high = np.float32(value * (1.0 - _SLACK)), np.float32(value * (1.0 + _SLACK))
    if low != high:
        return 0.0, HARD
    return (0.0, INFINITE) if np.isinf(low) else (np.float64(low), NUMBER)


@njit(cache=True)
def is_largest_double(mantissa: int, power: int) -> bool:
    """Whether the number is the largest double, 1.797...e308, which some data sets write for a missing value."""
    lead = float(mantissa)
    while lead >= 10.0:
        lead /= 10.0
        power += 1
    return power == 308 and lead > 1.797


@njit(cache=True)
def parse_digits(data: Bytes, at: int, mantissa: int) -> tuple[int, int, int]:
    """Append digits to ``mantissa`` while there is room: mantissa, digits that found none, position behind."""
    cut = 0
    c = data[at]
    while 48 <= c <= 57:
        if mantissa < _ROOM:
            mantissa = mantissa * 10 + (c - 48)
        else:
            cut += 1
        at += 1
        c = data[at]
    return mantissa, cut, at


@njit(cache=True)
def parse_exponent(data: Bytes, at: int) -> tuple[int, int]:
    """Exponent behind an ``e`` at ``at``, held within 10**6, and the position behind; position -1 if there is none."""
    at += 1
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    exponent, cut, end = parse_digits(data, at, 0)
    if end == at:
        return 0, -1
    exponent = 1_000_000 if cut > 0 else min(exponent, 1_000_000)
    return (-exponent if negative else exponent), end


@njit(cache=True)
def spells(data: Bytes, at: int, word: bytes) -> bool:
    """Whether ``word`` is at ``at`` (its bytes contain no line feed, so the data's end stops the search)."""
    for i in range(len(word)):  # noqa: SIM110 -- numba compiles no generator expression
        if data[at + i] != word[i]:
            return False
    return True


@njit(cache=True)
def parse_word(data: Bytes, at: int) -> tuple[float, int, int]:
    """Value that is no decimal: NULL marks a missing one; position behind it."""
    if spells(data, at, b"NULL") and ends_token(data[at + 4]):
        return np.nan, ABSENT, at + 4
    sign = 1 if data[at] == 45 or data[at] == 43 else 0
    first = data[at + sign] | 32
    named = first == 105 or (first == 110 and data[at + sign + 1] | 32 == 97)  # i(nf), na(n)
    return np.nan, (NAMED if named else MALFORMED), at


@njit(cache=True)
def parse_value(data: Bytes, at: int) -> tuple[float, int, int]:
    """Value of the token at ``at``: float32 value, kind, position behind the token."""
    start = at
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    mantissa, cut, end = parse_digits(data, at, 0)
    n_digits, power = end - at, cut
    at = end
    if data[at] == 46:
        mantissa, cut_here, end = parse_digits(data, at + 1, mantissa)
        n_digits += end - at - 1
        power -= end - at - 1 - cut_here
        cut += cut_here
        at = end
    if n_digits == 0:
        return parse_word(data, start)
    if data[at] | 32 == 101:
        exponent, at = parse_exponent(data, at)
        power += exponent
    if at < 0 or not ends_token(data[at]):
        return np.nan, MALFORMED, start
    value, kind = round_decimal(mantissa, power, cut > 0)
    if kind == INFINITE and is_largest_double(mantissa, power):
        return np.nan, ABSENT, at
    return (-value if negative else value), kind, at


@njit(cache=True)
def parse_short(data: Bytes, at: int) -> tuple[float, int]:
    """Parse a plain decimal of at most 15 digits at ``at``: its value and the position behind, or -1 if it is not one.

    Nearly all values are, and this takes half the time of `parse_value`.
    """
    negative = data[at] == 45
    start = at + 1 if negative else at
    at, point, mantissa = start, -1, 0
    while True:
        digit = np.uint8(data[at] - 48)
        if digit <= 9:
            mantissa = mantissa * 10 + (data[at] - 48)
        elif data[at] == 46 and point < 0:
            point = at
        else:
            break
        at += 1
    n_digits = at - start - (1 if point >= 0 else 0)
    if n_digits < 1 or n_digits > 15 or not ends_token(data[at]):
        return 0.0, -1
    value = np.float64(np.float32(mantissa / _POWERS[at - point - 1] if point >= 0 else float(mantissa)))
    return (-value if negative else value), at


@njit(cache=True)
def parse_label(data: Bytes, at: int, max_label: int) -> tuple[int, int, int]:
    """Whole-numbered label (``2``, ``+2`` or ``2.0``): label, status, position behind."""
    if data[at] == 45 and 48 <= data[at + 1] <= 57:
        return 0, NEGATIVE_LABEL, at
    start = at + 1 if data[at] == 43 else at
    label, cut, end = parse_digits(data, start, 0)
    if end == start:
        return 0, BAD_LABEL, at
    if data[end] == 46:
        fraction, _, end = parse_digits(data, end + 1, 0)
        if fraction != 0:
            return 0, BAD_LABEL, at
    if not is_blank(data[end]):
        return 0, BAD_LABEL, at
    return (0, LARGE_LABEL, at) if cut > 0 or label > max_label else (label, OK, end)


@njit(cache=True)
def parse_index(data: Bytes, at: int) -> tuple[int, int, int]:
    """Feature index up to its colon: index, status, position behind the colon."""
    index, cut, end = parse_digits(data, at, 0)
    if end == at or data[end] != 58:
        return 0, BAD_FEATURE, at
    if cut > 0:
        return 0, LARGE_INDEX, at
    return index, (ZERO_INDEX if index == 0 else OK), end + 1


@njit(cache=True)
def parse_name(data: Bytes, at: int, in_comment: bool) -> int:
    """Position behind the name (of a query or document) at ``at``; -1 if it is empty or holds control characters."""
    start = at
    while not ends_token(data[at]) or (in_comment and data[at] == 35):
        if data[at] < 32 or data[at] == 127:
            return -1
        at += 1
    return at if at > start else -1


@njit(cache=True)
def find_docid(data: Bytes, at: int) -> tuple[int, int, int]:
    """Look in a comment for ``docid = NAME``, else its first word: start and end of the name (equal if there is none), and the status."""
    previous, comment = 32, at
    while not at_line_end(data, at):
        if (is_blank(previous) or previous == 35) and spells(data, at, b"docid"):
            name = skip_blanks(data, at + 5)
            if data[name] == 61:
                name = skip_blanks(data, name + 1)
                end = parse_name(data, name, True)
                return name, end, (OK if end > 0 else BAD_DOCID)
        previous = data[at]
        at += 1
    name, end = first_word(data, comment)
    return name, end, OK


@njit(cache=True)
def first_word(data: Bytes, at: int) -> tuple[int, int]:
    """Start and end of the document's name in ``# NAME ...``, as RankLib and Elasticsearch write it; equal if there is none.

    A word with an equals sign in it or behind it (``# inc = 1``) is the key of something else.
    """
    if data[at] != 35:
        return at, at
    name = skip_blanks(data, at + 1)
    end = parse_name(data, name, True)
    if end < 0 or data[skip_blanks(data, end)] == 61 or (end == name + 5 and spells(data, name, b"docid")):
        return name, name
    for i in range(name, end):
        if data[i] == 61:
            return name, name
    return name, end


@njit(cache=True)
def refused(kind: int, missing: bool) -> int:
    """Status of a value of the given kind."""
    if kind in (NUMBER, HARD) or (kind == ABSENT and missing):
        return OK
    if kind == ABSENT:
        return MISSING
    if kind == INFINITE:
        return OVERFLOW
    return NOT_FINITE if kind == NAMED else BAD_VALUE


@njit(cache=True)
def check_index(index: int, last: int, width: int, dense: bool) -> int:
    """Status of a feature index that follows the index ``last``."""
    if index <= last:
        return UNORDERED
    if index > width:
        return LARGE_INDEX
    return GAP if dense and index != last + 1 else OK


@njit(cache=True)
def parse_features(
    data: Bytes, at: int, X: Floats, row: int, hard: Integers, n_hard: int, dense: bool, missing: bool
) -> tuple[int, int, int]:
    """Read ``index:value`` up to the comment or the line's end into ``X[row]``: status, position, new ``n_hard``."""
    last = 0
    width = X.shape[1]
    at = skip_blanks(data, at)
    while data[at] != 35 and not at_line_end(data, at):
        index, status, begin = parse_index(data, at)
        if status == OK:
            status = check_index(index, last, width, dense)
        if status != OK:
            return status, at, n_hard
        value, end = parse_short(data, begin)
        if end < 0:
            value, kind, end = parse_value(data, begin)
            status = refused(kind, missing)
            if status != OK:
                return status, at, n_hard
            if kind == HARD:
                hard[n_hard, ROW], hard[n_hard, COLUMN] = row, index - 1
                hard[n_hard, TEXT], hard[n_hard, TEXT_END] = begin, end
                n_hard += 1
        X[row, index - 1] = np.float32(value)
        last = index
        at = skip_blanks(data, end)
    if dense and last < width:
        return SHORT, at, n_hard
    return OK, at, n_hard


@njit(cache=True)
def parse_head(data: Bytes, at: int, record: Integers, max_label: int) -> tuple[int, int]:
    """Read the label and ``qid:NAME`` of a row into its record: status, position behind."""
    label, status, end = parse_label(data, at, max_label)
    if status != OK:
        return status, at
    at = skip_blanks(data, end)
    if not spells(data, at, b"qid:"):
        return NO_QID, at
    end = parse_name(data, at + 4, False)
    if end < 0:
        return BAD_QID, at
    record[LABEL], record[QID], record[QID_END] = label, at + 4, end
    return OK, end


@njit(cache=True, nogil=True)
def parse_rows(
    data: Bytes,
    at: int,
    line: int,
    X: Floats,
    records: Integers,
    hard: Integers,
    dense: bool,
    missing: bool,
    max_label: int,
) -> tuple[int, int, int, int, int]:
    """Parse rows from ``at`` until the data end, ``records`` are full or ``hard`` may not hold another row's.

    Returns
    -------
    n_rows, n_hard, status, at, line
        ``at`` is where to go on, or where the row in ``line`` is wrong if the status is not `OK`.
    """
    n_rows = n_hard = 0
    while at < data.size and n_rows < records.shape[0] and n_hard + X.shape[1] <= hard.shape[0]:
        at = skip_blanks(data, at)
        if data[at] != 35 and not at_line_end(data, at):
            record = records[n_rows]
            record[LINE] = line
            status, at = parse_head(data, at, record, max_label)
            if status == OK:
                status, at, n_hard = parse_features(data, at, X, n_rows, hard, n_hard, dense, missing)
            if status == OK:
                record[DOC], record[DOC_END], status = find_docid(data, at)
            if status != OK:
                return n_rows, n_hard, status, at, line
            n_rows += 1
        at = skip_line(data, at)
        line += 1
    return n_rows, n_hard, OK, at, line
