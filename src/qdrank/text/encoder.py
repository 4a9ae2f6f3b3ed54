"""An encoder of texts, from its folder, laid out as on the model hub: one vector for each text, so that texts of like meaning lie close.

It runs an ONNX model with its tokenizer (extra ``dense``). A vector depends on its text alone: shorter texts of a batch are
padded, and the padding is masked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qdrank.errors import AnyPath, InputError
from qdrank.jobs import threads_given
from qdrank.layout import IntArray
from qdrank.registry import needed

#: Keys of a pooling's file, with the poolings that are known here.
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
    "pooling_mode_lasttoken": "last",
}
_MODELS = ("onnx/model.onnx", "model.onnx")
_STEPS = ("Transformer", "Pooling", "Normalize")
_PROMPTS = {"queries": ("query", "s2p_query"), "documents": ("document", "passage")}


@dataclass(frozen=True, kw_only=True)
class EncoderForm:
    """An encoder as its folder describes it.

    Attributes
    ----------
    model, tokenizer : files
    pooling : "mean" of the tokens, the first ("cls") or the "last" one
    normalise : whether vectors have length one
    longest : most tokens of a text; further ones are cut
    lower : whether texts are put into lower case
    queries, documents : prompts, which stand before each query and each document
    """

    model: Path
    tokenizer: Path
    pooling: str
    normalise: bool
    longest: int
    lower: bool = False
    queries: str = ""
    documents: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides a vector: both files, and what the others say."""
        sha256 = hashlib.sha256(repr([value for value in vars(self).values() if not isinstance(value, Path)]).encode())
        for path in (self.model, self.tokenizer):
            with path.open("rb") as file:
                sha256.update(hashlib.file_digest(file, "sha256").digest())
        return sha256.hexdigest()


def encoder_form(folder: AnyPath, *, queries: str | None = None, documents: str | None = None) -> EncoderForm:
    """The form of the encoder in ``folder``; prompts that are given win over those of the folder.

    Raises `InputError` if a file is missing, or if the encoder has steps that are not known here.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder of an encoder", file=folder, fix="correct the path")
    steps = {step["type"].rpartition(".")[2]: step["path"] for step in _json(folder / "modules.json")}
    if unknown := [step for step in steps if step not in _STEPS]:
        fix = f"take an encoder whose steps are among {', '.join(_STEPS)}"
        raise InputError(f"the encoder has an unknown step {unknown[0]}", file=folder / "modules.json", fix=fix)
    said = _json(folder / "sentence_bert_config.json", {})
    prompts = _prompts(_json(folder / "config_sentence_transformers.json", {}).get("prompts") or {})
    return EncoderForm(
        model=_first(folder, _MODELS),
        tokenizer=_first(folder, ("tokenizer.json",)),
        pooling=_pooling(folder / steps.get("Pooling", "1_Pooling") / "config.json"),
        normalise="Normalize" in steps,
        longest=said.get("max_seq_length") or _longest(folder),
        lower=bool(said.get("do_lower_case")),
        queries=prompts["queries"] if queries is None else queries,
        documents=prompts["documents"] if documents is None else documents,
    )


def _json(path: Path, otherwise: Any = None) -> Any:
    """Content of a file; ``otherwise`` if that is given and there is no file."""
    if not path.is_file() and otherwise is not None:
        return otherwise
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise _missing(path.parent, path.name) from None
    except ValueError as error:
        raise InputError("not JSON", file=path, found=str(error), fix="fetch the file again") from None


def _first(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise _missing(folder, names[0])


def _missing(folder: Path, name: str) -> InputError:
    fix = "fetch the whole folder: huggingface-cli download OWNER/MODEL --local-dir FOLDER"
    return InputError(f"the encoder lacks its file {name}", file=folder, fix=fix)


def _pooling(path: Path) -> str:
    """The one pooling that is switched on."""
    keys = _json(path)
    on = [key for key, value in keys.items() if key.startswith("pooling_mode_") and value]
    known = [POOLINGS[key] for key in on if key in POOLINGS]
    if len(on) != 1 or not known or keys.get("include_prompt") is False:
        found = ", ".join([*on, *(["include_prompt: false"] if keys.get("include_prompt") is False else [])])
        fix = f"take an encoder with one of {', '.join(POOLINGS)}"
        raise InputError("the encoder has an unknown pooling", file=path, found=found or "none", fix=fix)
    return known[0]


def _longest(folder: Path) -> int:
    """Most tokens of a text by the tokenizer and by the positions of the model."""
    limits = [
        _json(folder / "tokenizer_config.json", {}).get("model_max_length"),
        _json(folder / "config.json", {}).get("max_position_embeddings"),
    ]
    if not any(limits):
        raise _missing(folder, "sentence_bert_config.json")
    return int(min(filter(None, limits)))


def _prompts(named: dict[str, str]) -> dict[str, str]:
    return {kind: next((named[name] for name in names if named.get(name)), "") for kind, names in _PROMPTS.items()}


Vectors = NDArray[np.float32]
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
