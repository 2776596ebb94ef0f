"""The word lists: folded, and not at odds with each other."""

from __future__ import annotations

import pytest

from agent.text import spoken
from agent.text.stopwords import STOPWORDS
from agent.text.tokens import fold

LISTS = {name: words for name, words in vars(spoken).items() if isinstance(words, frozenset)}


@pytest.mark.parametrize("name", LISTS)
def test_words_are_as_they_are_looked_up(name: str) -> None:
    assert LISTS[name] and all(word == fold(word).strip() and " " not in word for word in LISTS[name])


def test_what_stands_for_something_is_no_filling() -> None:
    assert spoken.GIVEN_FOR < spoken.RELATIONS
    assert not (spoken.PREPOSITIONS - {"like"}) & (spoken.VERBS | spoken.ADJECTIVES | spoken.RELATIONS)
    assert not {"symptoms", "price", "weight", "ingredients"} & (
        spoken.CHATTER | spoken.ADJECTIVES | STOPWORDS
    )
    assert (
        {"is", "does", "can"} <= spoken.AUXILIARIES
        and {"and", "or"} <= spoken.JOINS
        and "the" in spoken.DETERMINERS
    )
