"""Words of a text in unified spelling, each with its offsets in the original; characters in plain form.

Two texts that differ only in whitespace, punctuation, the shape of quotes and dashes, soft hyphens,
ligatures, the width of characters, the hyphenation at a line's end, contractions taken apart ("does n't",
"it 's", "can not") or "%" for "percent" have the same words. Digits with their separators and sign, percent,
currency and comparison signs, and an ellipsis are words of their own."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from agent.text.word_lists import load_words

ELLIPSIS = "…"
NEGATIONS = load_words("negations")
"""Words that negate a statement in several languages; English "n't" is recognised by its ending."""

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0980-\u0dff\u0e31-\u0e4e"
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_NUMBER = r"(?:(?<![\w)\]%])[-\u2212])?\d+(?:[.,:/\u2044]\d+)*"
_SIGN = r"[%‰°±<>≤≥≠≈+×÷$€£¥₹]"
_PERCENT = r"[Pp](?:er\s?cent|ER\s?CENT)(?![^\W_])"
_APOSTROPHE = "['\u2019\u02bc]"
_CLITIC = rf"(?:n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|re|ll|ve|d|m|t))(?![\w'\u2019\u02bc])"
CLITIC = re.compile(rf"\s?{_CLITIC}", re.IGNORECASE)
"""The second part of a contraction or a possessive: "n't", "'s", "'ll"."""
DOTS = r"\[\s?(?:…|\.{3})\s?\]|…|\.{3,}|\.\s\.\s\."
"""An ellipsis, as a pattern."""
_LINE_HYPHEN = r"[-\u2010\u2011\u00ad]\s+(?=[a-zß-ÿ])"


def _word_pattern(letter: str, alphanumeric: str) -> str:
    """Most words are letters and blanks alone: they come first, and are not looked at twice."""
    joint = rf"[{_MARKS}{_INVISIBLE}]|{_APOSTROPHE}(?={letter})|{_LINE_HYPHEN}"
    word = rf"{letter}{alphanumeric}*+(?:(?:{joint}){alphanumeric}*+)*"
    rest = rf"(?:\s(?=[n'\u2019\u02bc])(?:{_CLITIC}|(?<=\b[Cc]an\s)not(?!\w)))?"
    return f"{word}{rest}|{_NUMBER}|{DOTS}|{_SIGN}"


_WORD = _word_pattern(r"[^\W\d_]", r"[^\W_]")
_WORD_OR_CJK = f"[{_CJK}]|" + _word_pattern(rf"(?:(?![{_CJK}])[^\W\d_])", rf"(?:(?![{_CJK}])[^\W_])")
WORD = re.compile(_WORD)
"""A word, a number with its sign, a sign that carries meaning, or an ellipsis."""
WORD_IN_ASCII = re.compile(_word_pattern("[A-Za-z]", "[A-Za-z0-9]"), re.ASCII)
"""The same in a text of ASCII letters, three times as fast."""
WORD_OR_CJK_CHARACTER = re.compile(_WORD_OR_CJK)
_SPELLED = re.compile(f"{_PERCENT}|{_WORD}")
_SPELLED_OR_CJK = re.compile(f"{_PERCENT}|{_WORD_OR_CJK}")
_HAS_CJK = re.compile(f"[{_CJK}]")
_NOTE_MARK = re.compile(r"\[\s?(?:\d{1,3}|[a-z]|n(?:ote|b)\s\d{1,2}|citation needed)\s?\]", re.IGNORECASE)
_JOINS = re.compile(rf"[{_INVISIBLE}]|[-\u2010\u2011]\s+")
_SUPERSCRIPTS = str.maketrans(
    {c: f"^{d}" for c, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)} | {"’": "'", "ʼ": "'"}
)

_UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff\ufffe\x00-\x08\x0e-\x1f]")
"""Soft hyphens, zero-width spaces and control characters. Joiners stay: Persian and emoji need them."""
_PLAIN_FORMS = set("<compat> <noBreak> <font> <initial> <medial> <final> <isolated> <square>".split())
"""The kinds of compatibility forms (Unicode, chapter 3.7) that are replaced. Not among them: <super>, <sub>,
<fraction> and <circle>, which change a figure (10² is not 102)."""
_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_RAISABLE = re.compile(r"[\d+\-−=()n]{1,9}", re.ASCII)


@dataclass(frozen=True)
class NormalizedText:
    """The words of a text in unified spelling; `starts`, `ends` are offsets in characters of the original."""

    words: list[str]
    starts: list[int]
    ends: list[int]

    @cached_property
    def line(self) -> str:
        """The words joined by single spaces, with one before and one after, to be searched."""
        return f" {' '.join(self.words)} "

    def find_words(self, words: list[str]) -> list[int]:
        """The indices at which these words follow each other."""
        needle, found, at, index, counted = f" {' '.join(words)} ", list[int](), -1, 0, 0
        while (at := self.line.find(needle, at + 1)) >= 0:
            index, counted = index + self.line.count(" ", counted, at), at
            found.append(index)
        return found


def normalize_text(text: str, *, notes: bool = True) -> NormalizedText:
    """The words of a text; with `notes=False` without reference marks such as "[3]"."""
    if not notes:
        text = blank_note_marks(text)
    pattern = _SPELLED_OR_CJK if not text.isascii() and _HAS_CJK.search(text) else _SPELLED
    found = list(pattern.finditer(text))
    return NormalizedText(
        [_normalize_word(m.group()) for m in found], [m.start() for m in found], [m.end() for m in found]
    )


def blank_note_marks(text: str) -> str:
    """The text with its reference marks overwritten by spaces, offsets unchanged."""
    return _NOTE_MARK.sub(lambda mark: " " * len(mark.group()), text)


def has_note_marks(text: str) -> bool:
    """Does a text carry reference marks such as "[3]" or "[citation needed]"?"""
    return bool(_NOTE_MARK.search(text))


def is_negation(word: str) -> bool:
    """Does a word (in unified spelling) negate a statement?"""
    return word in NEGATIONS or word.endswith("n't")


def strip_diacritics(word: str) -> str:
    """A word without its diacritics."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def is_inside_word(left: str, right: str) -> bool:
    """Would a cut between two neighbouring characters split a word or a number?"""
    return left.isalnum() and right.isalnum() and not _HAS_CJK.match(left) and not _HAS_CJK.match(right)


def _normalize_word(word: str) -> str:
    if word[0] in "pP" and word[-1] in "tT" and re.fullmatch(_PERCENT, word):
        return "%"
    if word.isascii() and word.isalnum():
        return word.lower()
    if word[0] in ".[…":
        return ELLIPSIS
    word = remove_line_hyphens(word).translate(_SUPERSCRIPTS)
    word = unicodedata.normalize("NFKC", word).replace("\u2044", "/").replace("\u2212", "-").casefold()
    if word[0].isdigit() or word[0] == "-":
        return remove_grouping(word)
    return word


def remove_line_hyphens(word: str) -> str:
    """A word without invisible characters, hyphens at a line's end and spaces ("does n't")."""
    return "".join(_JOINS.sub("", word).split())


def remove_grouping(number: str) -> str:
    """A number without the commas that group its digits: "1,200" as "1200"."""
    return number.replace(",", "") if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", number) else number


def normalize_characters(text: str) -> str:
    """The text in composed form (NFC), with ligatures and wide or styled letters in their plain form (NFKC)
    and without invisible characters; superscripts, subscripts, fractions, marks and spaces stay."""
    if text.isascii() and text.isprintable():
        return text
    text = unicodedata.normalize("NFC", _UNSEEN.sub("", text))
    plain: dict[int, str] = {}
    for character in set(text):
        kind, _, form = unicodedata.decomposition(character).partition(" ")
        is_replaced = kind in _PLAIN_FORMS or (kind in ("<wide>", "<narrow>") and character.isalnum())
        if is_replaced and not form.startswith("0020 ") and character != ELLIPSIS:
            plain[ord(character)] = unicodedata.normalize("NFKC", character)
    return text.translate(plain) if plain else text


def raise_figures(text: str) -> str:
    """Figures as superscripts ("2" as "²"); "" where the text holds anything else, such as "st"."""
    return text.translate(_RAISED) if _RAISABLE.fullmatch(text) else ""


def lower_figures(text: str) -> str:
    """Figures as subscripts; "" where the text holds anything else."""
    return text.translate(_LOWERED) if _RAISABLE.fullmatch(text) and "n" not in text else ""
