"""Numbers with their units in a text, in one form: "12 %", "twelve percent" and "12 per cent" are the same.

A quantity keeps its precision ("12 million" means 11.5 to 12.5 million), so a rounded figure agrees with the
full one. The caller blanks dates out first (`date_intervals.blank_dates`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.tokens import is_stopword
from agent.text.word_lists import read_rows

MAX_ROUNDING = 0.1
"""A rounded figure may differ by half its last digit, but never by more than this share of itself."""

_CARDINALS, _TENS_WORDS, _ORDINAL_WORDS = (row.split() for row in read_rows("number_words"))
_ONES = {word: number for number, word in enumerate(_CARDINALS)}
_TENS = {word: 10 * number for number, word in enumerate(_TENS_WORDS, start=2)}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALES |= {"k": 1e3, "mn": 1e6, "mln": 1e6, "bn": 1e9, "dozen": 12.0}
_ORDINALS = {word: number for number, word in enumerate(_ORDINAL_WORDS, start=1)}
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
CARDINAL_WORDS = frozenset([*_ONES, *_TENS, *_SCALES]) - {"zero", "k", "mn", "mln", "bn"}
"""English words for numbers that count."""
NUMBER_WORDS = frozenset(
    [*_ONES, *_TENS, *_SCALES, *_ORDINALS, "half", "third", "quarter", "twice", "once", "double", "both"]
)
"""Words that are numbers; a quote may not differ in one."""

_UNITS = {
    name: (base, float(factor))
    for base, factor, *names in map(str.split, read_rows("units"))
    for name in names
}
"""The base unit and factor of each unit's name."""
BASE_UNITS = frozenset(base for base, _ in _UNITS.values())
"""The units that figures are converted to; any other unit is the noun that is counted."""
_FAHRENHEIT = "°F"
"""The one unit that a factor alone does not convert."""
_NUMBER_WORD = "|".join(
    sorted([*_ONES, *_TENS, "hundred", "thousand", "million", "billion", "trillion"], key=len, reverse=True)
)
_NUMBER_PHRASE = rf"(?:{_NUMBER_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_NUMBER_WORD}))*"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[\u00a0\u202f]\d{3})+|\d+(?:\.\d+)?"
_APPROXIMATION = (
    "about|around|roughly|nearly|almost|approximately|circa|some|over|under|more than|less than|at least|up "
    "to"
)
_NAMED_UNIT = (
    r"%|per\s?cent\b|us\$|[€£¥₹]|°\s?[cf]\b|degrees?\s(?:celsius|fahrenheit)\b|km/h\b|square\s[^\W\d_]+"
    r"|[^\W\d_]+[²2]?"
)
_QUANTITY = re.compile(
    rf"(?P<about>\b(?:{_APPROXIMATION})\s+|[~≈]\s?)?(?P<money>us\$"
    rf"|[$€£¥₹])?\s?(?P<sign>(?<![\w)\]%])[-\u2212])?(?<![\w.])"
    rf"(?:(?P<digits>{_DIGITS})(?P<part>[½¼¾⅓⅔])?(?P<nth>(?:st|nd|rd|th)\b)?"
    rf"|\b(?P<spoken>{_NUMBER_PHRASE})\b|\b(?P<ordinal>{'|'.join(_ORDINALS)})\b)"
    rf"(?:[\s\u00a0-]?(?P<scale>(?<=\d)k|hundred|thousand|million|billion|trillion|dozen|mn|mln|bn)\b)?"
    rf"(?P<gap>[\s\u00a0\u202f]{{0,2}}-?)(?P<unit>{_NAMED_UNIT})?",
    re.IGNORECASE,
)


_UNIT_NAME = re.compile(r"(?<![\w'’])[^\W\d_]{2,}|[%$€£¥₹]")


@dataclass(frozen=True)
class Quantity:
    """A number. `value` and `precision` (its last digit's worth) are in base units; `unit` may be ""."""

    value: float
    precision: float
    unit: str
    start: int
    end: int
    text: str
    number: float = 0.0
    """The number as it is written, in its own unit."""
    step: float = 1.0
    """The worth of its last digit, in its own unit, whether it is approximate or not."""


def find_quantities(text: str) -> list[Quantity]:
    """The numbers of a text in order, without a lone "one" (mostly a pronoun)."""
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        if (read := _parse_value(match)) is None:
            continue
        value, step = read
        scale = _SCALES[match["scale"].lower()] if match["scale"] else 1.0
        unit, factor, named = _parse_unit(match)
        end = match.end() if named else match.end("gap") - len(match["gap"])
        number, last_digit = (-value if match["sign"] else value) * scale, step * scale
        value, step = number * factor, last_digit * factor
        if unit == _FAHRENHEIT:
            value, step, unit = (value - 32) * 5 / 9, step * 5 / 9, "°C"
        if match["about"]:
            step = max(step, 2 * MAX_ROUNDING * abs(value))
        first = next(name for name in ("money", "sign", "digits", "spoken", "ordinal") if match[name])
        start = match.start(first)
        shown = match.string[start:end].strip()
        found.append(Quantity(round(value, 9), round(step, 9), unit, start, end, shown, number, last_digit))
    return found


def find_units(text: str) -> set[tuple[str, float]]:
    """Base unit and factor of each unit that a text names, beside a number or not ("Height in metres")."""
    return {unit for match in _UNIT_NAME.finditer(text.lower()) if (unit := _find_unit(match.group()))}


def is_same_quantity(a: Quantity, b: Quantity) -> bool:
    """Are two numbers the same, one perhaps rounded? A fraction equals its percentage (0.12 and 12 %)."""
    if a.unit != b.unit:
        if {a.unit, b.unit} == {"%", ""}:
            share, bare = (a, b) if a.unit == "%" else (b, a)
            return abs(share.value / 100 - bare.value) < 1e-9 or share.value == bare.value
        if a.unit and b.unit:
            return False
    apart, coarse = abs(a.value - b.value), max(a.precision, b.precision)
    if apart > coarse / 2 * 1.000001 + 1e-9:
        return False
    return apart <= MAX_ROUNDING * max(abs(a.value), abs(b.value)) * 1.000001 + 1e-9


def is_comparable(a: Quantity, b: Quantity) -> bool:
    """Have two numbers the same unit, so that they may contradict? A share and its percentage have."""
    if {a.unit, b.unit} == {"%", ""}:
        return 0 < (b if a.unit == "%" else a).value < 1
    return a.unit == b.unit


def _parse_value(match: re.Match[str]) -> tuple[float, float] | None:
    if match["ordinal"]:
        return float(_ORDINALS[match["ordinal"].lower()]), 0.0
    if match["spoken"]:
        words = re.findall(r"[a-z]+", match["spoken"].lower())
        if words == ["one"] and not match["scale"] and (match["unit"] or "").lower() not in ("%", "percent"):
            return None
        total, current, step = 0.0, 0.0, 1.0
        for word in words:
            if word in _SCALES:
                current, step = max(current, 1.0) * _SCALES[word], _SCALES[word]
                if _SCALES[word] >= 1000:
                    total, current = total + current, 0.0
            elif word != "and":
                current, step = current + _ONES.get(word, 0) + _TENS.get(word, 0), 1.0
        return total + current, step
    digits = re.sub(r"[,\u00a0\u202f]", "", match["digits"])
    if match["nth"]:
        return float(digits), 0.0
    whole, _, decimals = digits.partition(".")
    zeros = len(whole) - len(whole.rstrip("0"))
    step = 10.0 ** -len(decimals) if decimals else 10.0**zeros if zeros >= 2 else 1.0
    return float(digits) + _FRACTIONS.get(match["part"] or "", 0.0), step


def _parse_unit(match: re.Match[str]) -> tuple[str, float, bool]:
    """Base unit, factor, and whether the unit's words belong to the figure as it is shown."""
    if match["nth"] or match["ordinal"]:
        return "th", 1.0, False
    if match["money"]:
        return *_UNITS[match["money"].lower()], False
    said = re.sub(r"\s+", "", (match["unit"] or "").lower())
    said = re.sub(r"^degrees?(?=[cf])", "", said)
    if said == "percent":
        return "%", 1.0, True
    if said.startswith("square"):
        base, factor = _find_unit(said[6:]) or ("", 1.0)
        return (base + "²", factor**2, True) if base else (said, 1.0, True)
    known = _find_unit(said)
    if known and not (len(said) == 1 and said.isalpha() and match["gap"] == "" and match["digits"] is None):
        return *known, True
    if not said or is_stopword(said) or not (match["unit"] or "")[0].islower():
        return "", 1.0, False
    return _singularize(said), 1.0, True


def _find_unit(said: str) -> tuple[str, float] | None:
    return _UNITS.get(said) or _UNITS.get(_singularize(said))


def _singularize(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
