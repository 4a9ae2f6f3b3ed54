"""One short name for each run, the same in every command: its tag, or where runs share one what tells their files apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import PurePath

from qdrank.errors import AnyPath

_ENDINGS = re.compile(r"(\.(run|txt|trec|tsv|json|res|out))?(\.(gz|xz|bz2|zst))?$")


def stem(path: AnyPath) -> str:
    """Name of a file of a run without its endings."""
    name = str(path).rpartition("/")[2]
    return _ENDINGS.sub("", name) or name


def distinct_names(runs: Sequence[tuple[AnyPath, str]]) -> list[str]:
    """A name for each run, given as file and tag.

    A tag that comes once stays as it is, so the names do not depend on the order of the files. Others are replaced by the name
    of the file, or of a folder above it, or by several of these; where that does not say all, the tag follows.
    """
    tags, sizes = Counter(tag for _, tag in runs), Counter(str(path) for path, _ in runs)
    files = list(dict.fromkeys(str(path) for path, tag in runs if tags[tag] > 1))
    label = dict(zip(files, next(_labels(files)), strict=True)) if files else {}
    named = ((label.get(str(path), ""), sizes[str(path)], tag) for path, tag in runs)
    return [
        tag if tags[tag] == 1 else name if size == 1 and tags[name] != 1 else f"{name}:{tag}"
        for name, size, tag in named
    ]


def _labels(files: Sequence[str]) -> Iterator[list[str]]:
    """Names that tell the files apart, the shortest first: a part of the path, several parts, the path."""
    parts = [[stem(path), *reversed(PurePath(path).parts[:-1])] for path in files]
    single = ([one[i] for one in parts] for i in range(min(map(len, parts))))
    joined = (["/".join(reversed(one[:n])) for one in parts] for n in range(2, 1 + max(map(len, parts))))
    return (names for names in chain(single, joined, [list(files)]) if len(set(names)) == len(files))
