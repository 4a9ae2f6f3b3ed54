"""The kernel form of the paper's theorems beside ridge, on a sample of the training queries.

Not a method of the study: the form is exact, with matrices of the square of the number of training documents, so it
learns from a part of them (`qdrank.learners.atvt.regressors.MOST_KERNEL_DOCUMENTS`). Ridge learns from the same part here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from qdrank.layout import FloatArray, query_index
from qdrank.studies.zha2006.data import FoldData, FoldPart
from qdrank.studies.zha2006.fits import Fitter, Params, best_of
from qdrank.studies.zha2006.options import Options


class KernelFitter(Fitter):
    """Fits of the kernel form: the penalties of h are those of ridge, and so is the grid of penalties on the maps."""

    def fixed(self) -> Params:
        """Parameters that all fits share."""
        return super().fixed() | {"h": "kernel"}


def sampled(part: FoldPart, most: int, seed: int) -> FoldPart:
    """Queries drawn at random until they have ``most`` documents, in their order."""
    order = np.random.default_rng(seed).permutation(part.judged.n_queries)
    drawn = np.sort(order[np.cumsum(np.diff(part.judged.offsets)[order]) <= most])
    rows = np.isin(query_index(part.judged.offsets), drawn)
    return FoldPart(part.judged.take(drawn), part.targets[rows])


def kernel_values(
    data: FoldData, options: Options, *, most: int = 1000
) -> dict[tuple[Literal["ridge", "kernel"], str], FloatArray]:
    """The study's DCG of the test queries by regressor and kind: plain and aTVT as validation chooses, the paper's penalties.

    Both regressors learn from the same ``most`` documents and choose among equally many settings.
    """
    small = replace(data, parts={**data.parts, "train": sampled(data.parts["train"], most, data.seed)})
    fitters: dict[Literal["ridge", "kernel"], Fitter] = {
        "ridge": Fitter(small, "ridge", options),
        "kernel": KernelFitter(small, "ridge", options),
    }
    values: dict[tuple[Literal["ridge", "kernel"], str], FloatArray] = {}
    for h, fitter in fitters.items():
        plain = best_of(fitter.tried("plain", None))
        fits = {kind: best_of(fitter.tried(kind, plain)) for kind in ("atvt", "fixed")} | {"plain": plain}
        values |= {(h, kind): small.reported("test", fit.scores("test")) for kind, fit in fits.items()}
    return values
