"""Settings other than the chosen ones; their models are among all that the study trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from qdrank.errors import InputError
from qdrank.queries.artifacts import load_neighbours
from qdrank.rankers.global_models import GlobalModels
from qdrank.rankers.local_models import ModelBank
from qdrank.rankers.sizes import Setting
from qdrank.serving.pack import Packed
from qdrank.store import read


def retuned(packed: Packed, folder: Path, method: str, setting: Setting) -> Packed:
    """The rankers of a fold with another setting for one method, whose models are read from the fold's ``folder``."""
    terms = replace(packed.terms, chosen={**packed.terms.chosen, method: setting})
    if method == "single":
        whole = GlobalModels(read(_there(folder / "models" / "global.parquet"), "models"))
        _refuse_untrained(setting, [setting._replace(lam=lam) for lam in whole.lambdas])
        return replace(packed, terms=terms, weights={**packed.weights, method: whole.weights("single", setting.lam)})
    local = ModelBank(read(_there(folder / "models" / "local.parquet"), "local_models"))
    _refuse_untrained(setting, local.settings("neighbours"))
    weights = {**packed.weights, method: local.weights("neighbours", setting, packed.train_id)}
    _, nearest = load_neighbours(_there(folder / "neighbours.parquet"))
    # Training queries come first.
    return replace(packed, terms=terms, weights=weights, neighbours=nearest[: len(packed.train_id), : setting.k])


def _there(path: Path) -> Path:
    if not path.is_file():
        fix = "give the whole folder of the fold, or leave out k and lambda"
        raise InputError("the models of other settings are missing", file=path, fix=fix)
    return path


def _refuse_untrained(wanted: Setting, known: Iterable[Setting]) -> None:
    if wanted not in (known := list(known)):
        texts = ", ".join(of.text for of in sorted(known))
        raise InputError(f"no models were trained with {wanted.text}", fix=f"trained: {texts}")
