"""Where sentences are: offsets are the text's own, nothing is lost."""

from __future__ import annotations

from textwrap import fill

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.sentences import (
    MAX_SENTENCE_CHARS,
    find_sentence_spans,
    find_stretches,
    join_wrapped_lines,
)
from tests.tables import by_table

PROSE = st.text(alphabet=st.sampled_from("aB. !?;\n\"”…。あД[1]'\u00a0\t"), max_size=1500) | st.text()


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in find_sentence_spans(text)]


@by_table
def test_sentences(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences


def test_a_sentence_too_long_to_quote_is_cut_at_a_semicolon_or_a_blank() -> None:
    text = "; ".join(["some forty characters of a long sentence"] * 40) + "."
    pieces = split(text)
    assert len(pieces) > 2 and all(piece.endswith((";", ".")) for piece in pieces)
    assert all(" " not in piece[-1] for piece in split("word " * 400))
    assert [len(piece) for piece in split("x" * 1500)] == [600, 600, 300]


@pytest.mark.slow
@pytest.mark.parametrize("sign", ["!", "?!", ".", "…", "。", ".)", '."', " ", ". ", "[1]", "\u00a0"])
def test_a_long_run_of_signs_is_walked_once(sign: str) -> None:
    run = sign * (400_000 // len(sign))
    found = split(f"It rained. Then {run}x\nThe end.")
    assert found[0] == "It rained." and found[-1] == "The end."


@given(PROSE)
def test_offsets_are_the_texts_own_and_nothing_but_blanks_is_left_out(text: str) -> None:
    found = find_sentence_spans(text)
    at = 0
    for start, end in found:
        assert not text[at:start].strip() and 0 < end - start <= MAX_SENTENCE_CHARS
        assert text[start:end] == text[start:end].strip() and "\n\n" not in text[start:end]
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize("width", [45, 60, 72, 100])
def test_a_sentence_goes_on_in_the_next_line_of_a_wrapped_text(width: int) -> None:
    sentences = [
        "Der Ofen wird zuerst langsam erhitzt, weil nasser Ton reißt, wenn das Wasser darin kocht.",
        "Nach einigen Stunden darf die Hitze schneller steigen, bis zu dem Kegel, den die Glasur verlangt.",
        "Dann bleibt der Deckel zu, bis die Töpfe kalt sind.",
    ]
    found = split(fill(" ".join(sentences), width))
    assert [" ".join(sentence.split()) for sentence in found] == sentences


@by_table
def test_a_line_that_does_not_read_on_ends_a_sentence(text: str) -> None:
    assert split(text) == [line for line in text.split("\n") if line]


WRAPPED = """\
The kiln is fired slowly at first, because clay that is still wet cracks when
Water turns to steam inside it. After some hours the heat may rise well-
known limits notwithstanding, up to the cone that the glaze needs. A kiln-
Wright knows."""


def test_the_lines_of_a_wrapped_paragraph_become_one_and_divided_words_whole() -> None:
    assert join_wrapped_lines(f"{WRAPPED}\n\n\nThe end\nof it") == (
        "The kiln is fired slowly at first, because clay that is still wet cracks when Water turns to steam "
        "inside it. After some hours the heat may rise wellknown limits notwithstanding, up to the cone that "
        "the glaze needs. A kiln-Wright knows.\n\nThe end\nof it"
    )


@by_table
def test_lists_settings_code_and_titles_keep_their_lines(text: str) -> None:
    assert join_wrapped_lines(text) == text


def test_an_item_goes_on_below_its_mark() -> None:
    text = "- Open the lid of the kiln, and put the pots into it with\n  care, one by one\n- Close it"
    assert join_wrapped_lines(text).split("\n")[0].endswith("with care, one by one")


@given(st.text(alphabet=st.sampled_from("aB. ,-\n\u00ad|1"), max_size=400))
def test_no_letter_is_lost(text: str) -> None:
    def letters(shown: str) -> str:
        return "".join(c for c in shown if c.isalnum())

    assert letters(join_wrapped_lines(text)) == letters(text)
    ends = [0, *(at for span in find_stretches(text) for at in span), len(text)]
    assert ends == sorted(ends)
