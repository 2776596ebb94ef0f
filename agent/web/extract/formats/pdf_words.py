"""Words that the end of a line breaks: lines joined, hyphens kept or dropped as the document spells the
word."""

from __future__ import annotations

import re
from collections import Counter

from agent.web.extract.formats.pdf_lines import LINE_END_HYPHEN

_BROKEN_ADDRESS = re.compile(r"(?:(?:https?://|www\.)\S*[/.\-_=&?#]|https?:|\S/)$")
_BROKEN_WORD = re.compile(rf"([^\W\d_]*){LINE_END_HYPHEN}([^\W\d_]*)")


def join_lines(text: str, line: str, *, is_run_on: bool = True) -> str:
    """The text with the next line; on a line of its own when it is no run-on. A broken word keeps a mark for
    `mend_words`."""
    if not is_run_on:
        return f"{text}\n{line}"
    if text[-1] in "-‐" and text[-2:-1].isalnum() and line[:1].isalnum():
        is_broken = text[-2].isalpha() and line[0].islower()
        return f"{text[:-1]}{LINE_END_HYPHEN}{line}" if is_broken else text + line
    if _BROKEN_ADDRESS.search(text):
        return text + line
    return f"{text}{'' if _is_unspaced(text[-1]) and _is_unspaced(line[0]) else ' '}{line}"


def _is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that writes no blanks between words: Han, kana, their marks."""
    return (
        "\u3000" <= character <= "\u30ff"
        or "\u3400" <= character <= "\u9fff"
        or character in "！，（）：；？"
    )


def mend_words(text: str, vocabulary: Counter[str]) -> str:
    """The text with its broken words whole; `vocabulary` counts the words of the document."""
    return _BROKEN_WORD.sub(lambda found: _mend_word(found[1], found[2], vocabulary), text)


def _mend_word(left: str, right: str, vocabulary: Counter[str]) -> str:
    """Both halves of a word as one, or with a hyphen where the document spells it so, or where each half is a
    word of the document and the whole is none."""
    whole, parted = (left + right).lower(), f"{left}-{right}".lower()
    if not left or not right:
        return f"{left}-{right}" if left or right else ""
    if vocabulary[whole] or vocabulary[parted]:
        return left + right if vocabulary[whole] >= vocabulary[parted] else f"{left}-{right}"
    has_both = min(len(left), len(right)) >= 3 and vocabulary[left.lower()] and vocabulary[right.lower()]
    return f"{left}-{right}" if has_both else left + right
