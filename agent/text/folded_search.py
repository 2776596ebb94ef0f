"""Search in a text of any length by letters and digits alone: case, accents, width, spaces and punctuation do
not count.

The text is folded piece by piece, so that memory does not grow with it, and searched with `str.find`, so that
time grows linearly. A hit says where to look; whether the words are the same is for the caller to check."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from agent.text.normalization import blank_note_marks
from agent.text.tokens import stem, stem_words, tokenize
from agent.text.word_lists import STOPWORDS

MAX_PLACES = 40
"""Hits of one needle that are returned."""
_PIECE_CHARS = 16_384
_MAX_TABLE = 65_536
"""Characters whose folded form is kept, about 100 bytes each: a page can hold every character there is."""


class _FoldTable(dict[int, int | str]):
    """The folded form of each character, worked out when it is first met, for `str.translate`."""

    def __missing__(self, code: int) -> int | str:
        letters = unicodedata.normalize("NFKD", chr(code)).casefold()
        folded = "".join(c for c in letters if c.isalnum())
        value = ord(folded) if len(folded) == 1 else folded
        if len(self) < _MAX_TABLE:
            self[code] = value
        return value


_TABLE = _FoldTable({ord("%"): "percent"})


def fold_letters(text: str) -> str:
    """The letters and digits of a text without case, accents and width; "%" is "percent"."""
    return text.translate(_TABLE)


def find_folded(
    text: str, needles: Sequence[str], *, longest: int, notes: bool = True
) -> list[list[tuple[int, int]]]:
    """Start and end in `text` of the first MAX_PLACES hits of each folded needle that take at most `longest`
    characters; with `notes=False`, reference marks such as "[3]" are passed over."""
    found: list[list[tuple[int, int]]] = [[] for _ in needles]
    size = max(_PIECE_CHARS, longest)
    for start in range(0, len(text), size):
        piece = text[start : start + size + longest]
        piece = piece if notes else blank_note_marks(piece)
        folded = fold_letters(piece)
        for places, needle in zip(found, needles, strict=True):
            at = folded.find(needle) if needle else -1
            while at >= 0 and len(places) < MAX_PLACES:
                first = _locate_folded(piece, at)
                if first >= size:
                    break  # the next piece has it
                last = _locate_folded(piece, at + len(needle) - 1)
                places.append((start + first, start + last + 1))
                at = folded.find(needle, at + 1)
    return found


def _locate_folded(text: str, at: int) -> int:
    """The index of the character of `text` whose folded form holds the folded character `at`."""
    start, end = 0, len(text)
    while end - start > 1:
        middle = (start + end) // 2
        before = len(fold_letters(text[start:middle]))
        if at < before:
            end = middle
        else:
            start, at = middle, at - before
    return start


# The words of a private text that another text would give away.

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
    words = tokenize(text)
    if public:
        words = [word for word in words if len(word) < MIN_EMBEDDED_CHARS or stem(word) not in public]
    stems, letters = {stem(word) for word in set(words)}, fold_letters("".join(words))
    return [
        word
        for word in secrets
        if stem(word) not in public
        and (stem(word) in stems or (len(word) >= least and fold_letters(word) in letters))
    ]
