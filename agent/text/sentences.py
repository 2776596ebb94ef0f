"""Sentence boundaries of a text: full stops, abbreviations, initials and CJK punctuation."""

from __future__ import annotations

import re

MAX_SENTENCE_CHARS = 600
"""A longer sentence is cut at a semicolon or space: a quote must stay readable."""

_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*(?:\[\d+\])*\s+(?=[\"'“‘«(\[]*[^\W_a-z])|[。！？]+[」』”]*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“])(?:[A-Z]|mr|mrs|ms|dr|prof|st|sr|jr|vs|no|vol|fig|inc|ltd|co|corp|dept|gen|col|lt|sgt"
    r"|capt|rev|hon|gov|sen|rep|"
    r"approx|ca|cf|al|ed|eds|pp|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec|bzw|nr|str|ung|bl|kap|art"
    r"|mme|mlle|"
    r"(?:[A-Za-z]\.)+[A-Za-z])\.$",
    re.IGNORECASE,
)


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, blanks around it left out. A line break always ends a
    sentence."""
    found: list[tuple[int, int]] = []
    for line in _LINE.finditer(text):
        start = line.start()
        for stop in _SENTENCE_END.finditer(text, line.start(), line.end()):
            dot = stop.start() + 1
            if text[stop.start()] == "." and _ABBREVIATION.search(text[max(start, dot - 14) : dot]):
                continue
            found += _split_long_span(text, start, stop.end())
            start = stop.end()
        found += _split_long_span(text, start, line.end())
    return found


def _split_long_span(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The trimmed span, cut into readable pieces when it is too long; nothing when it is blank."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    pieces: list[tuple[int, int]] = []
    while end - start > MAX_SENTENCE_CHARS:
        cut = max(
            text.rfind("; ", start + MAX_SENTENCE_CHARS // 2, start + MAX_SENTENCE_CHARS),
            text.rfind(". ", start + MAX_SENTENCE_CHARS // 2, start + MAX_SENTENCE_CHARS),
        )
        cut = cut if cut > 0 else text.rfind(" ", start + MAX_SENTENCE_CHARS // 2, start + MAX_SENTENCE_CHARS)
        cut = cut + 1 if cut > 0 else start + MAX_SENTENCE_CHARS
        pieces.append((start, start + len(text[start:cut].rstrip())))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        pieces.append((start, end))
    return pieces
