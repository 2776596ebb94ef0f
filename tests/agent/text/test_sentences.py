"""Where sentences are: offsets are the text's own, nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.sentences import MAX_SENTENCE_CHARS, find_sentence_spans
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
