"""The ledger of declarations: which claim, grid and method was declared when, and what was known by then.

"Written before the numbers" is a statement about history, so it is kept as a record that a test can refuse. An entry
names the commit that declared its claims in their present form, the first commit with a result, what was changed between
the two and why, and earlier results. Every claim, grid and list of methods has a digest in the ledger; one that is
changed without a new digest, and so without someone reading the entry, fails the test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qdrank.errors import InputError
from qdrank.evaluation.declared import Claim

_FIELDS = ("name", "text", "expected", "kind", "margin", "limit", "unit", "family", "purpose", "measure")
"""What makes a claim; its budget is in the grids, its note explains."""
ENTRY = ("declared", "result", "changed", "earlier")


@dataclass(frozen=True)
class Present:
    """What a study declares now.

    Attributes
    ----------
    claims : its claims
    methods : name, label and models of every method; how a method computes is code, and its history that of the code
    grids : by the file of the configuration, all settings of the study, those of training, and the number of fits
    """

    claims: Sequence[Claim]
    methods: Sequence[Sequence[str]]
    grids: Mapping[str, Mapping[str, Any]]


def digest(value: Any) -> str:
    """Eight hexadecimal digits of any value that JSON can hold."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def claim_digest(claim: Claim) -> str:
    """Digest of all that makes a claim."""
    return digest([getattr(claim, name) for name in _FIELDS])


def problems(name: str, recorded: Mapping[str, Any], now: Present) -> Iterator[str]:
    """What a study declares differently from the ledger, in words; nothing if they agree."""
    known = {claim: value for entry in recorded["entries"] for claim, value in entry["claims"].items()}
    present = {claim.name: claim_digest(claim) for claim in now.claims}
    yield from differences(f"{name}: claim", known, present)
    yield from differences(f"{name}: grid of", recorded["grids"], {file: digest(g) for file, g in now.grids.items()})
    yield from differences(f"{name}: list of", {"methods": recorded["methods"]}, {"methods": digest(now.methods)})


def differences(what: str, known: Mapping[str, str], present: Mapping[str, str]) -> Iterator[str]:
    """Digests that are not those of the ledger, in words."""
    for key, value in present.items():
        if known.get(key) != value:
            was = f"changed, and the ledger has {known[key]}" if key in known else "is not in the ledger"
            yield f"{what} {key!r} {was}: say what was changed and why, what was known by then, and write {value}"
    yield from (f"{what} {key!r} is in the ledger and declared no more" for key in known if key not in present)


def checked(ledger: Mapping[str, Any]) -> Mapping[str, Any]:
    """The ledger, if every entry says all that an entry must."""
    for name, study in ledger["studies"].items():
        for entry in study["entries"]:
            if missing := [field for field in (*ENTRY, "claims") if field not in entry]:
                raise InputError(f"the ledger's entry of {name} lacks {', '.join(missing)}")
    return ledger
