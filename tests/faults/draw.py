"""Draw faults over all functions: ``python -m tests.faults.draw`` fills the list `faults.yaml` up to 40.

A fault in the list stays; one that has no place any more, or that is among the rejected, is replaced by a new one of its
kind. Rejected are those that change nothing that anybody could see; each says why.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from random import Random

import yaml

from tests.faults.kinds import KINDS, expressions, functions
from tests.faults.planted import LIST, Fault, read_list

SOURCE, SEED, N = Path(__file__).parents[2] / "src", 48, 40
FREE = "all of them"


def candidates() -> dict[tuple[str, str], dict[tuple[str, str], list[Fault]]]:
    """All possible faults, by kind and room, then by function; the room `FREE` has those of all."""
    found: dict[tuple[str, str], dict[tuple[str, str], list[Fault]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        module, room = ".".join(parts).removesuffix(".__init__"), parts[1]
        for function, body in functions(ast.parse(path.read_text(encoding="utf-8"))):
            seen: dict[str, int] = defaultdict(int)
            for node, parent in expressions(body):
                old = ast.unparse(node)
                seen[old] += 1
                for kind, changed in KINDS.items():
                    for new in changed(node, parent):
                        fault = Fault("", kind, module, function, old, new, seen[old])
                        for place in (room, FREE):
                            found[kind, place][module, function].append(fault)
    return found


def draw() -> list[Fault]:
    """`N` faults: kinds in turn, two a room and the others anywhere, no two in one function."""
    found, (listed, rejected) = candidates(), read_list()
    refused = {(one["function"], one["new"]) for one in rejected}
    rooms = sorted(
        {path.name for path in (SOURCE / "qdrank").iterdir() if path.is_dir() and path.name != "__pycache__"}
    )
    pool = rooms * 2 + [FREE] * (N - 2 * len(rooms))
    Random(SEED).shuffle(pool)
    kept = {one.name: one for one in listed if usable(one) and (one.function, one.new) not in refused}
    for one in kept.values():
        room = one.module.split(".")[1]
        pool.remove(room if room in pool else FREE)
    used, drawn = {(one.module, one.function) for one in kept.values()}, []
    for number in range(N):
        name, rng = f"{number + 1:02}", Random(f"{SEED} {number}")
        if name not in kept:
            kinds = [list(KINDS)[(number + more) % len(KINDS)] for more in range(len(KINDS))]
            for kind, room in product(kinds, pool):
                free = {
                    at: [one for one in some if (one.function, one.new) not in refused]
                    for at, some in found[kind, room].items()
                }
                if places := sorted(at for at, some in free.items() if some and at not in used):
                    break
            pool.remove(room)
            kept[name] = replace(rng.choice(free[rng.choice(places)]), name=name)
            used.add((kept[name].module, kept[name].function))
        drawn.append(kept[name])
    return drawn


def usable(fault: Fault) -> bool:
    """Whether the fault still has a place."""
    try:
        fault.planted(fault.path(SOURCE).read_text(encoding="utf-8"))
    except LookupError:
        return False
    return True


def main() -> None:
    """Write the list."""
    faults = [{key: value for key, value in asdict(one).items() if (key, value) != ("nth", 1)} for one in draw()]
    content = {"faults": faults, "rejected": read_list()[1]}
    LIST.write_text(yaml.safe_dump(content, sort_keys=False, width=1000, allow_unicode=True), encoding="utf-8")


if __name__ == "__main__":
    main()
