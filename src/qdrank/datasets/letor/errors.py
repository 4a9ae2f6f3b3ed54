"""What is wrong with a row of LETOR text, in words."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from qdrank.datasets.letor import kernels
from qdrank.errors import InputError

_ROW = "write rows as: LABEL qid:QUERY 1:VALUE 2:VALUE ... #docid = DOCUMENT"
_SPARSE = "complete the row, or say sparse=True if features left out are zero"

# Problem and fix by status; {width} and {max_label} are filled in.
WORDS: dict[int, tuple[str, str]] = {
    kernels.BAD_LABEL: ("the row does not begin with a whole-numbered label", _ROW),
    kernels.NEGATIVE_LABEL: (
        "the label is negative",
        "labels are grades from 0 on; leave unjudged documents (-1 in the semi-supervised sets) out",
    ),
    kernels.LARGE_LABEL: ("the label is above {max_label}", "fix the label, or allow it with max_label (at most 127)"),
    kernels.NO_QID: ("the label is not followed by qid:QUERY", _ROW),
    kernels.BAD_QID: ("the query's name is empty or holds control characters", _ROW),
    kernels.BAD_FEATURE: ("not a feature of the form INDEX:VALUE", _ROW),
    kernels.ZERO_INDEX: ("a feature has index 0", "number the features from 1"),
    kernels.UNORDERED: ("a feature stands out of order or twice", "sort the row's features by index, each one once"),
    kernels.LARGE_INDEX: (
        "a feature's index is above {width}, the number of features",
        "fix the index, or give the right n_features",
    ),
    kernels.GAP: ("a feature is left out before this one, in a file whose first row is complete", _SPARSE),
    kernels.SHORT: ("the row ends before feature {width}, in a file whose first row is complete", _SPARSE),
    kernels.BAD_VALUE: ("the feature's value is not a number", "write a decimal number such as 0.25 or 1e-3"),
    kernels.NOT_FINITE: ("the feature's value is not finite", "replace NaN and infinities by numbers"),
    kernels.OVERFLOW: (
        "the feature's value is too large for single precision",
        "scale the feature to below 3.4e38",
    ),
    kernels.MISSING: (
        "the feature's value is missing",
        "say missing=True if the data set has missing values (they become NaN), or fill it in",
    ),
    kernels.BAD_DOCID: ("docid = is followed by no name, or by control characters", "write: #docid = DOCUMENT"),
}


def row_error(
    status: int,
    data: NDArray[np.uint8],
    at: int,
    *,
    file: str | os.PathLike[str],
    line: int,
    width: int,
    max_label: int,
) -> InputError:
    """Error for the row in ``line`` that fails at position ``at`` of ``data``."""
    problem, fix = WORDS[status]
    problem = problem.format(width=width, max_label=max_label)
    return InputError(problem, file=file, line=line, found=_found(status, data, at), fix=fix)


def _found(status: int, data: NDArray[np.uint8], at: int, limit: int = 120) -> bytes:
    """Token or comment at ``at``; the line's start if the line ends there."""
    if status == kernels.SHORT or data[at] in b"\r\n":
        before = data[max(0, at - (1 << 20)) : at].tobytes()
        return before[before.rfind(b"\n") + 1 :][:limit].strip()
    behind = data[at : at + limit].tobytes()
    return behind.splitlines()[0] if status == kernels.BAD_DOCID else behind.split(maxsplit=1)[0]
