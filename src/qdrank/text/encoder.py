"""An encoder of texts: one vector for each, so that texts of like meaning lie close.

It runs an ONNX model with its tokenizer (extra ``dense``). A vector depends on its text alone: shorter texts of a batch are
padded, and the padding is masked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import InputError
from qdrank.jobs import threads_given
from qdrank.layout import IntArray
from qdrank.registry import needed
from qdrank.text.encoder_form import EncoderForm
from qdrank.text.encoder_vectors import Vectors

Kind = Literal["queries", "documents"]
#: Most texts of a batch, and most tokens with the padding, which bound its memory.
_TEXTS, _TOKENS = 32, 8192
#: Inputs of a model, with the attributes of tokenized texts; outputs that have a vector for each token, or for each text.
_INPUTS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
_OUTPUTS = ("last_hidden_state", "sentence_embedding")


class Encoder:
    """The encoder of a form (`encoder_form`), ready to run.

    Parameters
    ----------
    threads : of the model, which change no byte; None: those given to the job
    """

    def __init__(self, form: EncoderForm, *, threads: int | None = None) -> None:
        self.form = form
        self._tokenizer = _tokenizer(form)
        self._session = _session(form, threads or threads_given())
        self._inputs, self._output = _ends(self._session, form)

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Vectors of texts, (n_texts, n_dimensions); texts of about one length share a batch."""
        if not texts:
            return self.encode([""], kind)[:0]
        prompt = self.form.queries if kind == "queries" else self.form.documents
        tokens = self._tokenizer.encode_batch_fast([self._cased(prompt + text) for text in texts])
        lengths = np.array([len(one) for one in tokens])
        order = np.argsort(lengths, kind="stable")
        made = [self._vectors([tokens[row] for row in rows]) for rows in batches(lengths, order)]
        vectors = np.empty((len(texts), made[0].shape[1]), dtype=np.float32)
        vectors[order] = np.concatenate(made)
        return vectors

    def _cased(self, text: str) -> str:
        return text.lower() if self.form.lower else text

    def inputs(self, tokens: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        """What the model takes for one batch of tokenized texts, (n_texts, n_tokens) each."""
        return {name: _padded([getattr(one, _INPUTS[name]) for one in tokens]) for name in self._inputs}

    def _vectors(self, tokens: list[Any]) -> Vectors:
        """Vectors of one batch."""
        output = self._session.run([self._output], self.inputs(tokens))[0].astype(np.float64)
        if output.ndim == 3:
            output = pooled(output, np.array([len(one) for one in tokens]), self.form.pooling)
        if self.form.normalise:
            output /= np.maximum(np.linalg.norm(output, axis=1, keepdims=True), 1e-12)
        return np.asarray(output, dtype=np.float32)


def batches(lengths: IntArray, order: IntArray) -> Iterator[IntArray]:
    """Consecutive rows of ``order``, by which ``lengths`` rise: at most 32 texts, and 8,192 tokens once they are padded."""
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or end - start == _TEXTS or lengths[order[end]] * (end + 1 - start) > _TOKENS:
            yield order[start:end]
            start = end


def pooled(tokens: NDArray[np.float64], lengths: IntArray, pooling: str) -> NDArray[np.float64]:
    """One vector of each text, (n_texts, n_dimensions), from those of its first ``lengths`` (n_texts,) ``tokens``."""
    if pooling == "cls":
        return tokens[:, 0]
    if pooling == "last":
        return np.asarray(tokens[np.arange(len(tokens)), np.maximum(lengths, 1) - 1])
    real = np.arange(tokens.shape[1]) < lengths[:, None]
    return np.asarray((tokens * real[..., None]).sum(axis=1) / np.maximum(lengths, 1)[:, None])


def _padded(rows: list[list[int]]) -> NDArray[np.int64]:
    """Rows filled up with zeros. Which token stands there makes no difference: the mask is zero, too."""
    padded = np.zeros((len(rows), max(1, *map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _tokenizer(form: EncoderForm) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else its threads take all cores, to save a fiftieth
    try:
        tokenizer = needed("tokenizers", "dense").Tokenizer.from_file(str(form.tokenizer))
    except InputError:
        raise
    except Exception as error:  # the library has no class of its own for what it cannot read
        raise InputError("not a tokenizer", file=form.tokenizer, found=str(error), fix="fetch the file again") from None
    tokenizer.enable_truncation(form.longest)  # the file's own limits are of some training
    tokenizer.no_padding()
    return tokenizer


def _session(form: EncoderForm, threads: int) -> Any:
    onnxruntime = needed("onnxruntime", "dense")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry(
        "session.intra_op.allow_spinning", "0"
    )  # waiting threads leave the cores to others
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(form.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as above
        fix = "fetch the file again, whole (git lfs pull, if it came by git)"
        raise InputError("not a model in ONNX", file=form.model, found=str(error)[:200], fix=fix) from None


def _ends(session: Any, form: EncoderForm) -> tuple[list[str], str]:
    """Inputs of the model, and the output that is read."""
    inputs, outputs = ([end.name for end in ends] for ends in (session.get_inputs(), session.get_outputs()))
    output = next((name for name in _OUTPUTS if name in outputs), None)
    if output is None or not {*inputs} <= {*_INPUTS}:
        fix = f"take an encoder of {', '.join(_INPUTS)} that gives {' or '.join(_OUTPUTS)}"
        found = f"{', '.join(inputs)} -> {', '.join(outputs)}"
        raise InputError("the model is no encoder of texts", file=form.model, found=found, fix=fix)
    return inputs, output
