"""What the folder of an encoder, laid out as on the model hub, says of it: its files, its pooling, its prompts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from qdrank.errors import AnyPath, InputError

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
