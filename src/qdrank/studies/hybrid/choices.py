"""The settings tried for every method and control, as texts, and which of them validation chose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from qdrank.learners.choose import Choice
from qdrank.rankers.run_weights import FixedWeights
from qdrank.studies.hybrid.methods import MEASURE

#: Parameters that settings of a ranker differ in, by the name of its stored form.
_SHOWN = {
    "one-run": ("run",),
    "fused-runs": ("norm",),
    "fixed-weights": ("norm",),
    "neighbour-weights": ("similarity", "k"),
    "margin-weights": ("power",),
    "trees": ("leaves",),
    "local": ("k", "lam"),
    "ser": ("C",),
    "sser": ("C",),
    "ensemble": (),
    "clusters": ("m", "lam"),
    "atvt": ("lam_h",),
}

_SCHEMA = pa.schema(
    {name: pa.string() for name in ("fold", "method", "setting")}
    | {"k": pa.int32(), "lam": pa.float64(), "measure": pa.string(), "value": pa.float64(), "chosen": pa.bool_()}
)


def setting_text(ranker: Any) -> str:
    """The parameters of a ranker that differ between settings; of tuned fixed weights also the weights."""
    names = _SHOWN.get(ranker.NAME, ("leaves" if getattr(ranker, "model", "") == "trees" else "lam",))
    values = [(name, getattr(ranker, name)) for name in names if hasattr(ranker, name)]
    texts = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in values]
    if isinstance(ranker, FixedWeights):
        texts.append("weights " + " ".join(f"{weight:.3g}" for weight in ranker.tuned))
    for inner in (getattr(ranker, "base", None), getattr(ranker, "learner", None)):
        texts += [setting_text(inner)] if hasattr(inner, "NAME") else []
    return ", ".join(text for text in texts if text)


def choices_table(fold: str, tuned: Mapping[str, Choice[Any]], tried: Mapping[str, Sequence[str]]) -> pa.Table:
    """The artifact ``choices``: every setting of every method and control, in the order tried."""
    rows = [
        {"fold": fold, "method": name, "setting": text, "measure": MEASURE, "value": value, "chosen": i == choice.place}
        for name, choice in tuned.items()
        for i, (text, value) in enumerate(zip(tried[name], choice.values, strict=True))
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)
