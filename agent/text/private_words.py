"""The words of a private text that another text would give away."""

from __future__ import annotations

from collections.abc import Iterable

from agent.text.folded_search import fold_letters
from agent.text.tokens import stem, stem_words, tokenize
from agent.text.word_lists import STOPWORDS

MIN_EMBEDDED_CHARS, MIN_EMBEDDED_FILE_CHARS = 4, 6
"""From this length on a private word (of a note, of a file) is also found inside words and with gaps
("a c m e"). Short words of a file stand in many others ("share" in "shareholders")."""


def find_private_words(
    text: str, private: Iterable[str], known: Iterable[str], *, least: int = MIN_EMBEDDED_CHARS
) -> list[str]:
    """The content words of `private` that occur in `text`, without those that `known` texts hold anyway;
    those of `least` letters also inside words and with gaps."""
    secrets = dict.fromkeys(word for note in private for word in tokenize(note) if word not in STOPWORDS)
    if not secrets:
        return []
    public = {word for shown in known for word in stem_words(shown)}
    words = [word for word in tokenize(text) if len(word) < MIN_EMBEDDED_CHARS or stem(word) not in public]
    stems, letters = {stem(word) for word in words}, fold_letters("".join(words))
    return [
        word
        for word in secrets
        if stem(word) not in public
        and (stem(word) in stems or (len(word) >= least and fold_letters(word) in letters))
    ]
