"""Folders of tiny encoders: a model of one table of word vectors, and its tokenizer, as the hub lays them out."""

import json
from pathlib import Path

import numpy as np

from qdrank.serving.onnx import _attribute, _field, _node, _tensor

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "ask:", "zebra", "lion", "tiger", "piano", "violin", "cello", "river"]
WIDTH = 6
TABLE = np.random.default_rng(5).normal(size=(len(WORDS), WIDTH)).round(3)
_INT64, _FLOAT = 7, 1


def _end(name: str, kind: int, *dims: str) -> bytes:
    shape = b"".join(_field(1, _field(2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def model(output: str = "last_hidden_state", inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> bytes:
    """An ONNX model that looks each token up in `TABLE`; ``sentence_embedding`` is their mean."""
    of_text = output == "sentence_embedding"
    nodes = [
        _node("Constant", [], ["table"], [_attribute("value", _tensor(TABLE))]),
        _node("Gather", ["table", "input_ids"], ["rows"]),
        _node("Cast", ["rows"], ["looked" if of_text else output], [_attribute("to", _FLOAT)]),
    ]
    if of_text:
        axes = _field(1, "axes") + _field(8, 1) + _field(20, 7)
        flat = _field(1, "keepdims") + _field(3, 0) + _field(20, 2)
        nodes.append(_node("ReduceMean", ["looked"], [output], [axes, flat]))
    ends = [_field(11, _end(name, _INT64, "batch", "length")) for name in inputs]
    dims = ("batch", "width") if of_text else ("batch", "length", "width")
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "tiny") + b"".join(ends)
    graph += _field(12, _end(output, _FLOAT, *dims))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(1, "") + _field(2, 17))


def write_encoder(
    folder: Path, pooling: str = "mean_tokens", *, normalise: bool = True, longest: int = 8, **of_model
) -> Path:
    """Write an encoder into ``folder``; ``of_model`` are the arguments of `model`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=12)
    steps = ["Transformer", "Pooling", *(["Normalize"] if normalise else [])]
    files = {
        "modules.json": [{"idx": i, "path": f"{i}_{step}", "type": f"x.models.{step}"} for i, step in enumerate(steps)],
        "1_Pooling/config.json": {"pooling_mode_mean_tokens": False, f"pooling_mode_{pooling}": True},
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "config_sentence_transformers.json": {"prompts": {"query": "ask: "}},
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(model(**of_model))
    return folder
