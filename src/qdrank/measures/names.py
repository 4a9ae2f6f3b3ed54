"""Names of measures: ``measure[(parameters)][@k][/convention]``, and the names of ir_measures and trec_eval."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from qdrank.errors import InputError
from qdrank.measures import MEASURES
from qdrank.registry import did_you_mean

_NAME = re.compile(
    r"(?P<base>[A-Za-z_]+)(\((?P<parameters>[^()]*)\))?(@(?P<cutoff>[1-9][0-9]{0,5}))?(/(?P<convention>[a-z0-9_]+))?"
)
_TITLES = {
    "ap": "MAP",
    "rr": "MRR",
    "mean_ndcg": "mean NDCG",
    "success": "Success",
    "judged": "Judged",
    "bpref": "Bpref",
}
#: What ir_measures calls the measures; its definitions are trec_eval's. MAP, MRR and NDCG are other usual names.
_IR_MEASURES = {
    "nDCG": "ndcg",
    "AP": "ap",
    "RR": "rr",
    "P": "p",
    "R": "r",
    "Success": "success",
    "Judged": "judged",
    "Bpref": "bpref",
    "RBP": "rbp",
}
_TREC_EVAL = {
    "map": "AP",
    "map_cut": "AP",
    "recip_rank": "RR",
    "ndcg_cut": "nDCG",
    "P": "P",
    "recall": "R",
    "success": "Success",
}
"""Names of trec_eval, the cutoff behind ``_`` or ``.``, as ir_measures has them; ``ndcg`` and ``bpref`` are ours."""
_CUT = re.compile(r"(?P<base>map_cut|ndcg_cut|P|recall|success)[_.](?P<cutoff>[1-9][0-9]{0,5})|map|recip_rank")
_NOT_HERE = {
    "ERR": "ndcg@{k}/exp",
    "nERR": "ndcg@{k}/exp",
    "Rprec": "AP",
    "IPrec": "AP",
    "infAP": "AP(judged_only=True)",
}
"""Measures of others that are not here, and the nearest in kind that is."""
_ALSO = {"MAP": "ap", "MRR": "rr", "NDCG": "ndcg", "Precision": "p", "Recall": "r"}
_BY_TREC_EVAL = "trec"

Parameter = int | float | bool
_RELEVANCE, _JUDGED = ("rel", "judged_only"), ("judged_only",)
_PARAMETERS: dict[str, tuple[str, ...]] = {
    "ap": _RELEVANCE,
    "rr": _RELEVANCE,
    "p": _RELEVANCE,
    "r": _RELEVANCE,
    "success": _RELEVANCE,
    "rbp": ("p", *_RELEVANCE),
    "bpref": ("rel",),
    "ndcg": _JUDGED,
    "dcg": _JUDGED,
}
_VALUES: dict[str, tuple[str, Callable[[str], Parameter], str]] = {
    "rel": (r"[1-9][0-9]?", int, "the lowest grade that counts as relevant, from 1"),
    "p": (r"0?\.[0-9]+", float, "the probability to look at the next document, between 0 and 1"),
    "judged_only": (r"True|true|1", lambda _: True, "True: documents that are not judged are left out"),
}


@dataclass(frozen=True)
class Measure:
    """A measure by name: its base, cutoff (None: no cutoff), convention (empty: there is only one) and parameters."""

    base: str
    cutoff: int | None = None
    convention: str = ""
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @property
    def name(self) -> str:
        """The name as it is written in configurations and tables, ``ndcg@10/letor4``, ``ap(rel=2)@100/trec``."""
        given = f"({','.join(f'{key}={value}' for key, value in self.parameters)})" if self.parameters else ""
        return self._spelt(given, str(self.cutoff))

    @property
    def definition(self) -> str:
        """The entry of `MEASURES` behind the name, ``ndcg@k/letor4``."""
        return self._spelt("", "k")

    @property
    def title(self) -> str:
        """What tables and axes call the mean over queries: ``NDCG@10``, ``MAP``."""
        title = _TITLES.get(self.base, self.base.upper())
        return Measure(title, self.cutoff, "", self.parameters).name

    @property
    def ir_measures(self) -> str:
        """The name in ir_measures, ``nDCG@10``; empty if ir_measures has no such measure."""
        name = next((name for name, base in _IR_MEASURES.items() if base == self.base), "")
        return Measure(name, self.cutoff, "", self.parameters).name if name and self.convention == _BY_TREC_EVAL else ""

    def _spelt(self, given: str, cutoff: str) -> str:
        name = self.base + given + ("" if self.cutoff is None else f"@{cutoff}")
        return f"{name}/{self.convention}" if self.convention else name


def parse(name: str, *, convention: str = "") -> Measure:
    """The measure called ``name``: ours, or one of ir_measures', which stands for the definition of trec_eval.

    Raises `InputError` if there is no such measure; the error names the closest one.

    Parameters
    ----------
    name : such as ``ndcg@10/letor4``, ``ap(rel=2)@100/trec``, ``nDCG@10`` or ``MAP``
    convention : the convention of a name that has none, such as ``ndcg@10``
    """
    measure = _read(name, convention)
    if measure is not None and (near := _NOT_HERE.get(measure.base)):
        near = near.format(k=measure.cutoff) if measure.cutoff else near.replace("@{k}", "")
        raise InputError(f"{measure.base} is not measured here", found=name, fix=f"the nearest in kind is {near}")
    if measure is None:
        raise InputError(
            f"{name!r} is not the name of a measure",
            fix="write measure@k/convention, for example ndcg@10/letor4, or a name of ir_measures, for example nDCG@10",
        )
    if measure.definition not in MEASURES:
        raise InputError(f"unknown measure {name!r}", fix=_suggestion(measure))
    return measure


def entry_of(name: str) -> str:
    """The entry of `MEASURES` that ``name`` spells, as `parse` reads it; empty if it spells none."""
    try:
        measure = _read(name, "")
    except InputError:
        return ""
    return measure.definition if measure and measure.definition in MEASURES else ""


def judged_only(name: str) -> str:
    """The same measure of judged documents alone; ``name`` itself where it counts no others."""
    measure = parse(name)
    if "judged_only" in dict(measure.parameters) or "judged_only" not in _PARAMETERS.get(measure.base, ()):
        return measure.name
    return replace(measure, parameters=(*measure.parameters, ("judged_only", True))).name


def _read(name: str, convention: str) -> Measure | None:
    """The measure that a name has the form of, known or not; None if it has no such form."""
    match = _NAME.fullmatch(_as_ir_measures(name.replace(" ", "")))
    if match is None:
        return None
    others = _IR_MEASURES | _ALSO
    base = others.get(match["base"], match["base"])
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    measure = Measure(base, cutoff, match["convention"] or "", _parameters(name, base, match["parameters"]))
    if not measure.convention and (match["base"] in others or measure.definition not in MEASURES):
        theirs = match["base"] in _IR_MEASURES or (match["base"] in _ALSO and not convention)
        said = replace(measure, convention=_BY_TREC_EVAL if theirs else convention)
        measure = said if said.definition in MEASURES else measure
    return measure


def _as_ir_measures(name: str) -> str:
    """A name of trec_eval as ir_measures has it; others as they are."""
    match = _CUT.fullmatch(name)
    if match is None:
        return name
    return f"{_TREC_EVAL[match['base']]}@{match['cutoff']}" if match["base"] else _TREC_EVAL[name]


def _parameters(name: str, base: str, text: str | None) -> tuple[tuple[str, Parameter], ...]:
    """Parameters of a name, in one order however they were written, without those at their default."""
    given: dict[str, Parameter] = {}
    for pair in filter(None, (text or "").split(",")):
        key, _, value = pair.partition("=")
        if base == "ndcg" and key == "dcg":
            _refuse_other_gain(name, value.strip("'\""))
            continue
        known = _PARAMETERS.get(base, ())
        if key not in known:
            allowed = f"its parameters are {', '.join(known)}" if known else f"{base} has no parameters"
            raise InputError(f"{name!r}: unknown parameter {key!r}", fix=allowed)
        form, read, words = _VALUES[key]
        if not re.fullmatch(form, value):
            raise InputError(f"{name!r}: {key} cannot be {value!r}", fix=words)
        given[key] = read(value)
    return tuple((key, given[key]) for key in _VALUES if key in given and (key, given[key]) != ("rel", 1))


def _refuse_other_gain(name: str, gain: str) -> None:
    """Raise unless a parameter ``dcg`` of ir_measures is at its default, the gain of trec_eval."""
    if gain == "exp-log2":
        fix = (
            f"write {name.partition('(')[0].lower()}{name.rpartition(')')[2]}/exp, the same gain with ties in row order"
        )
        raise InputError(f"{name!r} has another name here", fix=fix)
    if gain != "log2":
        raise InputError(f"{name!r}: dcg cannot be {gain!r}", fix="log2 or exp-log2")


def _suggestion(measure: Measure) -> str:
    """The closest definition, with the same cutoff; the convention is never guessed."""
    alike = [name for name in MEASURES if re.split("[@/]", name)[0] == measure.base]
    if alike and not measure.convention and measure.base not in alike:
        hint = "say which convention: " + ", ".join(alike)
    else:
        hint = did_you_mean(measure.definition, alike or list(MEASURES))
    return hint.replace("@k", f"@{measure.cutoff}") if measure.cutoff else hint
