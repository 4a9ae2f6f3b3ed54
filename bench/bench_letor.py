"""Speed and memory of reading LETOR text, beside scikit-learn's ``load_svmlight_file`` on the same file.

python bench/bench_letor.py [n_rows]          three kinds of generated text, both readers
python bench/bench_letor.py full [n_rows]     import of a file of MSLR-WEB30K's size (4 GB of text)

Every measurement has a process of its own, so that the peak memory is its own; compilation is not counted.
"""

from __future__ import annotations

import gzip
import lzma
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

WEB30K_ROWS = 3_771_125
BLOCK = 10_000


def features_text(kind: str) -> list[str]:
    """Features of `BLOCK` rows: six decimals as in LETOR, whole numbers mixed in as in MSLR, or all 17 digits."""
    rng = np.random.default_rng(0)
    values = rng.random((BLOCK, 46 if kind == "letor" else 136))
    if kind == "letor":
        form = ["{:.6f}".format] * 46
    elif kind == "mslr":
        form = [(lambda v: f"{int(v * 100)}") if j % 2 else (lambda v: f"{v * 30:.6g}") for j in range(136)]
    else:
        form = [repr] * 136
    return [" ".join(f"{j + 1}:{form[j](v)}" for j, v in enumerate(row)) for row in values.tolist()]


def generate(path: Path, kind: str, n_rows: int, first: int = 0) -> None:
    """Write rows ``first`` to ``n_rows`` - 1 of 120 documents a query, with names of documents."""
    features = features_text(kind)
    with path.open("w") as file:
        for start in range(first, n_rows, BLOCK):
            rows = range(start, min(start + BLOCK, n_rows))
            file.writelines(
                f"{i * 7 % 5} qid:{i // 120} {features[i - start]} #docid = GX{i:09d} inc = 1 prob = 0.5\n"
                for i in rows
            )


def read_ours(path: Path) -> int:
    from qdrank.datasets.letor import read_letor

    return sum(len(chunk.y) for chunk in read_letor(path))


def load_ours(path: Path) -> int:
    from qdrank.datasets.letor import load_letor

    return load_letor(path).n_documents


def import_ours(path: Path) -> int:
    from qdrank.datasets.importing import import_letor

    parts = {part: path / f"{part}.txt" for part in ("train", "test")}
    import_letor(parts, path / "judged.parquet")
    return (path / "judged.parquet").stat().st_size


def load_back(path: Path) -> int:
    from qdrank.datasets.judged import load_judged

    return load_judged(path / "judged.parquet", columns=["features"]).n_documents


def load_sklearn(path: Path) -> int:
    from sklearn.datasets import load_svmlight_file

    return int(load_svmlight_file(str(path), query_id=True, dtype=np.float32)[0].shape[0])


def measure(run: Callable[[Path], int], path: Path, warm: Path) -> tuple[float, float]:
    """CPU seconds and peak memory in GiB of this process."""
    if warm.exists():
        run(warm)
    start = time.process_time()
    run(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
    return time.process_time() - start, peak


def measured(run: Callable[[Path], int], path: Path, warm: Path) -> tuple[float, float]:
    """`measure` in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (run, path, warm))


def compare(folder: Path, n_rows: int) -> None:
    print("| text | reader | MB of text | MB/s (CPU) | times scikit-learn | peak memory |\n|---|---|---|---|---|---|")
    for kind in ("letor", "mslr", "17 digits"):
        path, warm = folder / "data.txt", folder / "warm.txt"
        generate(path, kind, n_rows)
        generate(warm, kind, 1000)
        size = path.stat().st_size / 1e6
        theirs, memory = measured(load_sklearn, path, warm)
        print(f"| {kind} | scikit-learn | {size:.0f} | {size / theirs:.0f} | 1 | {memory:.2f} GiB |", flush=True)
        for run, what in ((read_ours, "read_letor"), (load_ours, "load_letor")):
            ours, memory = measured(run, path, warm)
            ratio = theirs / ours
            print(f"| {kind} | {what} | {size:.0f} | {size / ours:.0f} | {ratio:.1f} | {memory:.2f} GiB |", flush=True)
    generate(path, "letor", 10_000)
    size = path.stat().st_size / 1e6
    for name, compress in ((".gz", gzip.compress), (".xz", lzma.compress)):
        packed = folder / f"data.txt{name}"
        packed.write_bytes(compress(path.read_bytes()))
        ours, memory = measured(read_ours, packed, warm)
        print(f"| letor, {name} | read_letor | {size:.0f} | {size / ours:.0f} | | {memory:.2f} GiB |", flush=True)


def full(folder: Path, n_rows: int) -> None:
    border = n_rows * 4 // 5 // 120 * 120
    generate(folder / "train.txt", "mslr", border)
    generate(folder / "test.txt", "mslr", n_rows, border)
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"{n_rows:,} rows x 136 features, {size:,.0f} MB of text\n")
    print("| what | CPU time | MB/s of text | peak memory |\n|---|---|---|---|")
    steps = {"import_letor": import_ours, "load_judged, without names": load_back}
    for what, run in steps.items():
        seconds, memory = measured(run, folder, folder / "none")
        print(f"| {what} | {seconds:.0f} s | {size / seconds:.0f} | {memory:.2f} GiB |", flush=True)


def main(*arguments: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if arguments[:1] == ("full",):
            full(Path(folder), int(arguments[1]) if len(arguments) > 1 else WEB30K_ROWS)
        else:
            compare(Path(folder), int(arguments[0]) if arguments else 50_000)


if __name__ == "__main__":
    main(*sys.argv[1:])
