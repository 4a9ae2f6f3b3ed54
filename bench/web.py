"""LETOR text in the shape of a web search engine's: many queries, long lists, features of very different scales.

    python bench/web.py runs/scale/data [--train 6000 --vali 2000 --test 2000 --documents 120 --features 136]

Made to try the workflow at scale, not to test a claim. A query has a place in a space of a few dimensions; the place
moves the scales of its features and the weights by which its documents are graded. Features are counts with long tails,
sums of hidden factors, and a few that are zero for most documents: training on them is as badly conditioned as on real
ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from qdrank.jobs import in_order
from qdrank.layout import FloatArray

#: Scores above which a document gets grade 1 to 4, in standard deviations: about half are 0, as in MSLR-WEB.
_BORDERS = (0.05, 0.8, 1.7, 2.3)
PLACES, _FACTORS = 8, 12
#: Queries drawn and written at a time.
TOGETHER = 100


@dataclass(frozen=True, kw_only=True)
class Web:
    """What to draw; the defaults have the shape of one fold of MSLR-WEB10K."""

    train: int = 6000
    vali: int = 2000
    test: int = 2000
    documents: int = 120
    """Documents of a query, in the mean; from a quarter of it to nearly twice as many."""
    features: int = 136


def write_web(folder: Path, web: Web, seed: int) -> dict[str, Path]:
    """Write train.txt, vali.txt and test.txt into ``folder``; return the paths by part.

    Each block of a hundred queries has its own generator, so the text depends on the seed and the settings alone, and
    threads may share the work.
    """
    world = _World(web, np.random.default_rng([seed, 0]))
    paths, first = {}, 0
    for part, count in {"train": web.train, "vali": web.vali, "test": web.test}.items():
        paths[part], last = folder / f"{part}.txt", first + count
        pieces = [(start, min(TOGETHER, last - start)) for start in range(first, last, TOGETHER)]
        with paths[part].open("wb") as file:
            for text in in_order(lambda piece: [_lines(world, seed, *piece)], pieces, 2):
                file.write(text)
        first = last
    return paths


class _World:
    """What all queries of a set share."""

    def __init__(self, web: Web, rng: np.random.Generator) -> None:
        d, self.web = web.features, web
        self.mix = rng.normal(size=(_FACTORS, d)) * (rng.random((_FACTORS, d)) < 0.3)
        self.own = rng.uniform(0.2, 1.0, d)
        self.scale = 10.0 ** rng.uniform(-1, 3, d)  # lengths, counts, probabilities
        self.sparse = np.where(np.arange(d) % 5 == 4, 0.7, 0.0)  # share of documents that lack the feature
        self.long_tail = np.arange(d) % 3 == 0
        self.weights = rng.normal(size=d) / np.sqrt(d)
        self.weights[0] = 0.7
        self.tilt = rng.normal(size=(PLACES, d)) / np.sqrt(PLACES * d)
        self.stretch = 0.4 * rng.normal(size=(PLACES, d)) / np.sqrt(PLACES)

    def draw(self, n_queries: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
        """Documents of each query (n_queries,), grades (n,) and features (n, d) of their documents."""
        mean = self.web.documents
        sizes = rng.integers(max(1, mean // 4), 2 * mean - mean // 4 + 1, n_queries)
        query = np.repeat(np.arange(n_queries), sizes)
        place = rng.normal(size=(n_queries, PLACES))
        Z = rng.normal(size=(len(query), _FACTORS)) @ self.mix / np.sqrt(_FACTORS) + self.own * rng.normal(
            size=(len(query), self.web.features)
        )
        score = np.einsum("nf,nf->n", Z, (self.weights + 0.5 * place @ self.tilt)[query])
        score = 0.8 * score / max(float(score.std()), 1e-9) + 0.6 * rng.normal(size=len(query))
        X = np.where(self.long_tail, np.exp(Z), Z + 3) * (self.scale * np.exp(place @ self.stretch))[query]
        return sizes, np.searchsorted(_BORDERS, score), np.where(rng.random(X.shape) < self.sparse, 0.0, X)


def _lines(world: _World, seed: int, first: int, n_queries: int) -> pa.Buffer:
    """Rows of some queries, numbered from ``first``."""
    drawn = world.draw(n_queries, np.random.default_rng([seed, 1, first]))
    rows = pc.binary_join_element_wise(*_pieces(first, *drawn), "")
    _, _, text = rows.buffers()  # one line after the other
    return text


def _pieces(first: int, sizes: NDArray[np.int64], y: NDArray[np.int64], X: FloatArray) -> Iterator[pa.Array | str]:
    """Columns of text and what stands between them; a line is all of them joined."""
    query = np.repeat(np.arange(first, first + len(sizes)), sizes)
    place = np.arange(len(query)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    yield from (_text(y), " qid:", _text(query))
    rounded = np.round(X, 4).astype(np.float32)
    for f in range(X.shape[1]):
        yield from (f" {f + 1}:", _text(rounded[:, f]))
    yield from (" #docid = D", _text(query), "-", _text(place), "\n")


def _text(values: NDArray[Any]) -> pa.Array:
    return pc.cast(pa.array(np.ascontiguousarray(values)), pa.string())


def main() -> None:
    """Write the text that bench/scale.yaml reads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    for name, value in asdict(Web()).items():
        parser.add_argument(f"--{name}", type=int, default=value)
    given = vars(parser.parse_args())
    folder, seed = given.pop("folder"), given.pop("seed")
    folder.mkdir(parents=True, exist_ok=True)
    write_web(folder, Web(**given), seed)


if __name__ == "__main__":
    main()
