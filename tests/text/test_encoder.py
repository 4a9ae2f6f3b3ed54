"""Encoders: tiny ones of each pooling by arithmetic, and the real one by the cosines that its authors' code gives."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

from tests.text.tiny_encoder import TABLE, WIDTH, WORDS, write_encoder

from qdrank.errors import InputError
from qdrank.text.encoder import Encoder, batches, encoder_form

TEXTS = ["zebra lion", "", "piano violin cello river tiger", "unheard lion", "tiger"]
EXPECTED = {
    "mean_tokens": lambda rows: rows.mean(axis=0),
    "cls_token": lambda rows: rows[0],
    "lasttoken": lambda rows: rows[-1],
}


def rows_of(text, longest=8):
    """Vectors of the tokens of a text, by the table."""
    known = [WORDS.index(word) if word in WORDS else 1 for word in text.split()]
    return TABLE[[2, *known[: longest - 2], 3]]


@pytest.mark.parametrize("pooling", list(EXPECTED))
@pytest.mark.parametrize("normalise", [True, False])
def test_each_pooling_is_its_formula(tmp_path, pooling, normalise):
    encoder = Encoder(encoder_form(write_encoder(tmp_path / "e", pooling, normalise=normalise)))
    expected = np.array([EXPECTED[pooling](rows_of(text)) for text in TEXTS])
    if normalise:
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(encoder.encode(TEXTS, "documents"), expected, atol=1e-6)


def test_a_prompt_is_words_before_the_text_and_one_given_wins(tmp_path):
    folder = write_encoder(tmp_path / "e", normalise=False)
    of_folder, given = encoder_form(folder), encoder_form(folder, queries="lion ", documents="ask: ")
    for form, kind, prompt in (
        (of_folder, "queries", "ask: "),
        (of_folder, "documents", ""),
        (given, "queries", "lion "),
    ):
        expected = [rows_of(prompt + text).mean(axis=0) for text in TEXTS]
        np.testing.assert_allclose(Encoder(form).encode(TEXTS, kind), expected, atol=1e-6)
    assert given.documents == "ask: "


def test_long_texts_are_cut_where_the_folder_says(tmp_path):
    encoder = Encoder(encoder_form(write_encoder(tmp_path / "e", normalise=False, longest=4)))
    long = encoder.encode(["zebra lion tiger piano"], "documents")
    np.testing.assert_allclose(long[0], rows_of("zebra lion").mean(axis=0), atol=1e-6)


def test_without_a_length_the_tokenizer_and_the_model_say_it(tmp_path):
    folder = write_encoder(tmp_path / "e")
    (folder / "sentence_bert_config.json").unlink()
    with pytest.raises(InputError, match=r"sentence_bert_config\.json"):
        encoder_form(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 10**30}))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 7}))
    assert encoder_form(folder).longest == 7


def test_a_model_may_give_the_vector_of_a_text_itself(tmp_path):
    encoder = Encoder(encoder_form(write_encoder(tmp_path / "e", normalise=False, output="sentence_embedding")))
    vector = encoder.encode(["zebra lion"], "documents")
    np.testing.assert_allclose(vector[0], rows_of("zebra lion").mean(axis=0), atol=1e-6)


def test_no_text_has_no_vector(tmp_path):
    assert Encoder(encoder_form(write_encoder(tmp_path / "e"))).encode([], "queries").shape == (0, WIDTH)


def test_batches_hold_every_row_once_and_stay_small():
    lengths = np.random.default_rng(0).integers(0, 5000, size=300)
    order = np.argsort(lengths, kind="stable")
    made = list(batches(lengths, order))
    np.testing.assert_array_equal(np.concatenate(made), order)
    assert all(len(one) <= 32 and (len(one) == 1 or lengths[one].max() * len(one) <= 8192) for one in made)
    assert list(map(len, batches(np.full(70, 9), np.arange(70)))) == [32, 32, 6]


def spoil(folder, case):
    """One fault of a folder."""
    if case in ("modules.json", "tokenizer.json", "onnx/model.onnx", "1_Pooling/config.json"):
        (folder / case).unlink()
    elif case == "pointer":
        (folder / "onnx/model.onnx").write_text("version https://git-lfs.github.com/spec/v1\n")
    elif case == "not json":
        (folder / "modules.json").write_text("<html>")
    elif case == "dense step":
        (folder / "modules.json").write_text(json.dumps([{"path": "", "type": "x.models.Dense"}]))
    elif case == "broken tokenizer":
        (folder / "tokenizer.json").write_text("{}")


FAULTS = {
    "modules.json": "lacks its file modules.json",
    "tokenizer.json": "lacks its file tokenizer.json",
    "onnx/model.onnx": "lacks its file onnx/model.onnx",
    "1_Pooling/config.json": "lacks its file config.json",
    "pointer": "not a model in ONNX",
    "not json": "not JSON",
    "dense step": "unknown step Dense",
    "broken tokenizer": "not a tokenizer",
}


@pytest.mark.parametrize("case", list(FAULTS))
def test_a_broken_folder_gets_one_sentence(tmp_path, case):
    folder = write_encoder(tmp_path / "e")
    spoil(folder, case)
    with pytest.raises(InputError) as caught:
        Encoder(encoder_form(folder))
    assert FAULTS[case] in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "fix:" in str(caught.value)


@pytest.mark.parametrize("of_model", [{"output": "logits"}, {"inputs": ("input_ids", "pixel_values")}])
def test_another_architecture_is_refused(tmp_path, of_model):
    form = encoder_form(write_encoder(tmp_path / "e", **of_model))
    with pytest.raises(InputError, match="no encoder of texts"):
        Encoder(form)


@pytest.mark.parametrize("pooling", ["max_tokens", "weightedmean_tokens"])
def test_another_pooling_is_refused(tmp_path, pooling):
    with pytest.raises(InputError, match=f"unknown pooling\n  found: pooling_mode_{pooling}"):
        encoder_form(write_encoder(tmp_path / "e", pooling))


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="no such folder of an encoder"):
        encoder_form(tmp_path / "nowhere")


# ---- the real one ----------------------------------------------------------------------------------------------------

#: Pairs of texts with their cosines, four digits, of the model's card (README of the mirror).
GOLDEN = [
    ("The cat sits outside", "The cat plays in the garden", 0.6788),
    ("The new movie is awesome", "The new movie is so great", 0.8939),
    ("A man is playing guitar", "A woman watches TV", -0.0327),
    ("Which NFL team represented the AFC at Super Bowl 50?", "Steam engines are external combustion engines.", -0.0333),
]


@pytest.fixture(scope="module")
def minilm(mirror):
    return mirror / "encoders" / "all-MiniLM-L6-v2"


@pytest.mark.mirror
def test_golden_cosines(minilm):
    encoder = Encoder(encoder_form(minilm))
    left, right = (encoder.encode([pair[side] for pair in GOLDEN], "queries") for side in (0, 1))
    np.testing.assert_allclose((left * right).sum(axis=1), [pair[2] for pair in GOLDEN], atol=5e-5)
    np.testing.assert_allclose(left[0, :4], [0.1392, 0.0030, 0.0470, 0.0396], atol=5e-5)


@pytest.mark.mirror
def test_a_vector_depends_on_its_text_alone(minilm):
    texts = [text for pair in GOLDEN for text in pair[:2]] + ["steam engine " * 200, ""]
    one, two = (Encoder(encoder_form(minilm), threads=threads) for threads in (1, 2))
    together = one.encode(texts, "documents")
    assert together.tobytes() == two.encode(texts, "documents").tobytes()
    alone = np.concatenate([one.encode([text], "documents") for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_nothing_else_needs_the_extra():
    code = (
        "import sys; import qdrank.text.encoder, qdrank.text.first_runs, qdrank.workflow.config; print([*sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "'onnxruntime'" not in loaded
    assert "'tokenizers'" not in loaded
