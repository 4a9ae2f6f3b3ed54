"""The comparison of a run with the record that is kept of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from tests.golden.record import Record

TOLERANCE = 5e-5 + 1e-6  # the kept numbers have four digits; a little more for what lies just between two of them


def differences(kept: Record, found: Record) -> list[str]:
    """What differs, in the order of the record. Choices and digests count where they are kept for this type of processor."""
    ((processor, exact),) = found["exact"].items()
    known = kept["exact"].get(processor, {})
    exact = {key: value for key, value in exact.items() if key in known}
    return [
        *_different(dict(_cells(kept)), dict(_cells(found)), _change),
        *_different(dict(_inputs(kept)), dict(_inputs(found)), _change_of_inputs),
        *_different(known, exact, _change),
    ]


def _different(kept: Mapping[str, str], found: Mapping[str, str], change: Callable[[str, str], str]) -> Iterator[str]:
    for key in [*kept, *(key for key in found if key not in kept)]:
        if key not in found or key not in kept:
            yield f"{key}: {'lost' if key in kept else 'new'}"
        elif not _same(kept[key], found[key]):
            yield f"{key}: {change(kept[key], found[key])}"


def _change(was: str, now: str) -> str:
    return f"{now or 'nothing'}, was {was or 'nothing'}"


def _change_of_inputs(was: str, now: str) -> str:
    before, after = set(was.split()), set(now.split())
    words = {"no longer reads": before - after, "now reads": after - before}
    return "; ".join(f"{verb} {' '.join(sorted(paths))}" for verb, paths in words.items() if paths)


def _same(was: str, now: str) -> bool:
    try:
        return was == now or abs(float(was) - float(now)) <= TOLERANCE
    except ValueError:
        return False


def _cells(record: Record) -> Iterator[tuple[str, str]]:
    """Every cell by table, row and column; a row is called by its first cell, and by its number among those called so."""
    for name, (size, columns, *rows) in record["tables"].items():
        yield from ((f"{name}: size", size), (f"{name}: columns", columns))
        seen: Counter[str] = Counter()
        for row in rows:
            first = _short(row.partition("\t")[0])
            seen[first] += 1
            for column, cell in zip(columns.split("\t"), row.split("\t"), strict=True):
                yield f"{name}: {first} ({seen[first]}): {column}", cell


def _inputs(record: Record) -> Iterator[tuple[str, str]]:
    """Inputs by number of shards and output."""
    for shards, jobs in record["jobs"].items():
        for number in shards.removesuffix(" shards").split(" and "):
            for outputs, inputs in jobs.items():
                yield from ((f"{output} with {number} shards", " ".join(inputs)) for output in outputs.split())


def to_keep(found: Record, kept: Record | None) -> Record:
    """A record with numbers to four digits. Of other types of processor stays what is on this one as it was."""
    ((processor, exact),) = found["exact"].items()
    others = kept["exact"] if kept else {}
    before = others.get(processor, exact)
    stays = {key for key, value in exact.items() if before.get(key) == value}
    now = {one: {key: value for key, value in facts.items() if key in stays} for one, facts in others.items()}
    tables = {
        name: ["\t".join(map(_short, line.split("\t"))) for line in lines] for name, lines in found["tables"].items()
    }
    return {"tables": tables, "jobs": found["jobs"], "exact": now | {processor: exact}}


def _short(cell: str) -> str:
    try:
        return cell if cell.lstrip("-").isdigit() else f"{float(cell):.4f}".rstrip("0").rstrip(".")
    except ValueError:
        return cell
