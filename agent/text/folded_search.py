"""Search in a text of any length by letters and digits alone: case, accents, width, spaces and punctuation do
not count.

The text is folded piece by piece, so that memory does not grow with it, and searched with `str.find`, so that
time grows linearly. A hit says where to look; whether the words are the same is for the caller to check."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from agent.text.normalization import blank_note_marks
from agent.text.tokens import stem, stem_words, tokenize
from agent.text.word_lists import STOPWORDS

MAX_PLACES = 40
"""Hits of one needle that are returned."""
_PIECE_CHARS = 8192
_LONGEST_NOTE_MARK = 24
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


def find_folded(text: str, needles: Sequence[str], *, notes: bool = True) -> list[list[tuple[int, int]]]:
    """Start and end in `text` of the first MAX_PLACES hits of each folded needle; with `notes=False`,
    reference marks such as "[3]" are passed over."""
    found: list[list[int]] = [[] for _ in needles]
    starts, folded_starts, folded_chars, tail = list[int](), list[int](), 0, ""
    longest = max(map(len, needles), default=0)

    def read(start: int, end: int) -> str:
        return text[start:end] if notes else blank_note_marks(text[start:end])

    start = 0
    while start < len(text):
        end = start + _PIECE_CHARS
        bracket = text.rfind("[", end - _LONGEST_NOTE_MARK, end) if end < len(text) else -1
        end = bracket if bracket > start else end  # no cut goes through a reference mark
        starts.append(start)
        folded_starts.append(folded_chars)
        buffer = tail + fold_letters(read(start, end))
        base = folded_chars - len(tail)
        for places, needle in zip(found, needles, strict=True):
            at = len(tail) - len(needle) if needle else len(buffer)
            while len(places) < MAX_PLACES and (at := buffer.find(needle, max(0, at + 1))) >= 0:
                places.append(base + at)
        folded_chars = base + len(buffer)
        tail = buffer[max(0, len(buffer) - longest + 1) :]
        start = end

    def locate(at: int) -> int:
        piece = bisect_right(folded_starts, at) - 1
        end = starts[piece + 1] if piece + 1 < len(starts) else len(text)
        return starts[piece] + _locate_folded(read(starts[piece], end), at - folded_starts[piece])

    return [
        [(locate(at), locate(at + len(needle) - 1) + 1) for at in places]
        for places, needle in zip(found, needles, strict=True)
    ]


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
    words = [word for word in tokenize(text) if len(word) < MIN_EMBEDDED_CHARS or stem(word) not in public]
    stems, letters = {stem(word) for word in words}, fold_letters("".join(words))
    return [
        word
        for word in secrets
        if stem(word) not in public
        and (stem(word) in stems or (len(word) >= least and fold_letters(word) in letters))
    ]
