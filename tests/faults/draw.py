"""Draw faults over all functions: ``python -m tests.faults.draw`` fills the list `faults.yaml` up to 40.

A fault in the list stays; one that has no place any more, or that is among the rejected, is replaced by a new one of its
kind. Rejected are those that change nothing that anybody could see; each says why.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from random import Random

import yaml

from tests.faults.kinds import KINDS, expressions, functions
from tests.faults.planted import LIST, Fault, read_list

SOURCE, SEED, N = Path(__file__).parents[2] / "src", 48, 40


def candidates() -> Iterator[Fault]:
    """All possible faults, without names."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for function, body in functions(ast.parse(path.read_text(encoding="utf-8"))):
            seen: Counter[str] = Counter()
            for node, parent in expressions(body):
                old = ast.unparse(node)
                seen[old] += 1
                for kind, changed in KINDS.items():
                    for new in changed(node, parent):
                        yield Fault("", kind, module, function, old, new, seen[old])


def draw(listed: list[Fault], refused: set[tuple[str, str]]) -> list[Fault]:
    """`N` faults: kinds in turn, two a room and the others in any room, no two in one function."""
    possible = [one for one in candidates() if (one.function, one.new) not in refused]
    drawn = {one.name: one for one in listed if replace(one, name="") in possible}
    rooms = sorted(path.name for path in (SOURCE / "qdrank").iterdir() if any(path.glob("*.py")))
    pool = rooms * 2 + [""] * (N - 2 * len(rooms))
    for one in drawn.values():
        pool.remove(one.room if one.room in pool else "")
    Random(SEED).shuffle(pool)
    kinds = {one.name: one.kind for one in listed}
    for number in range(N):
        name, rng = f"{number + 1:02}", Random(f"{SEED} {number}")
        if name not in drawn:
            first = list(KINDS).index(kinds.get(name, list(KINDS)[number % len(KINDS)]))
            used = {one.at for one in drawn.values()}
            for kind, room in product([*list(KINDS)[first:], *list(KINDS)[:first]], pool):
                free = [one for one in possible if one.kind == kind and room in ("", one.room) and one.at not in used]
                if free:
                    break
            pool.remove(room)
            at = rng.choice(sorted({one.at for one in free}))
            drawn[name] = replace(rng.choice([one for one in free if one.at == at]), name=name)
    return [drawn[name] for name in sorted(drawn)]


if __name__ == "__main__":
    listed, rejected = read_list()
    made = draw(listed, {(one["function"], one["new"]) for one in rejected})
    faults = [{key: value for key, value in asdict(one).items() if (key, value) != ("nth", 1)} for one in made]
    text = yaml.safe_dump({"faults": faults, "rejected": rejected}, sort_keys=False, width=1000, allow_unicode=True)
    LIST.write_text(text, encoding="utf-8")
