import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdrank.errors import InputError
from qdrank.text.analyser import Analyser

PLAIN = Analyser(stemmer="none", stop_words="none")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Plant-based diets", ["plant", "based", "diets"]),
        ("Alzheimer's and O’Neill", ["alzheimer's", "and", "o'neill"]),
        ("'quoted' words' end", ["quoted", "words", "end"]),
        ("vitamin B12, 3.5 mg, 1,000 IU.", ["vitamin", "b12", "3.5", "mg", "1,000", "iu"]),
        ("2.5mg snake_case", ["2", "5mg", "snake", "case"]),
        ("STRASSE Straße ﬁsh", ["strasse", "strasse", "fish"]),
        ("naïve Ωmega 漢字", ["naïve", "ωmega", "漢字"]),
        (" ... -- ''", []),
        ("", []),
    ],
)
def test_words(text, words):
    assert PLAIN.words(text) == words


def test_stop_words_go_before_stems_and_each_word_becomes_one_term():
    tokens = Analyser().analyse(["The studies of dieting", "diets don't study", "of the"])
    assert tokens.terms == ["diet", "studi"]
    assert tokens.ids.tolist() == [1, 0, 0, 1]
    assert tokens.offsets.tolist() == [0, 2, 4, 4]


def test_nothing_to_analyse_is_legal():
    for texts in ([], [""], ["the", "of"]):
        tokens = Analyser().analyse(texts)
        assert len(tokens.ids) == 0
        assert tokens.terms == []
        assert tokens.offsets.tolist() == [0] * (len(texts) + 1)


@pytest.mark.parametrize("wrong", [{"stemmer": "englsh"}, {"stop_words": "x"}, {"unicode": "NFX"}])
def test_unknown_settings_are_refused(wrong):
    with pytest.raises(InputError, match="unknown"):
        Analyser(**wrong)


@given(st.lists(st.text(alphabet="ab the'-3.é\n", max_size=20), max_size=5))
def test_many_texts_at_once_give_the_terms_of_each(texts):
    analyser = Analyser()
    tokens = analyser.analyse(texts)
    for i, text in enumerate(texts):
        own = [term for term in analyser.terms_of(analyser.words(text)) if term]
        assert [tokens.terms[j] for j in tokens.ids[tokens.offsets[i] : tokens.offsets[i + 1]]] == own
    assert tokens.terms == sorted(set(tokens.terms))
    assert tokens.ids.dtype == np.int32
