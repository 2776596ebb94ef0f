"""Numbers of a text with their units: number words are read by text2num, units by pint.

They become comparable: a distance in metres, a span in seconds or months, a temperature in kelvins, a share
as a number with "%". A number's unit may also be a currency, or the noun that it counts ("12 cows")."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from text_to_num import Token, find_numbers

from agent.text.tokens import is_stopword

if TYPE_CHECKING:
    import pint

MAX_ROUNDING = 0.05
"""The most that a rounded number may differ from the full one."""
_CURRENCIES = {
    "us$": "$",
    "usd": "$",
    "dollar": "$",
    "eur": "€",
    "euro": "€",
    "gbp": "£",
    "jpy": "¥",
    "yen": "¥",
}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
_SCALES |= {"k": 1e3, "mn": 1e6, "mln": 1e6, "bn": 1e9}
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75, "⅓": 1 / 3, "⅔": 2 / 3}
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[\u00a0\u202f]\d{3})+|\d+(?:\.\d+)?(?!\.?\d)"
_NUMBER = re.compile(
    rf"(?P<money>us\$|[$€£¥₹])?\s?(?P<sign>(?<![\w)\]%])[-\u2212])?(?:(?<![\w.])(?P<digits>{_DIGITS})"
    r"(?P<part>[½¼¾⅓⅔])?(?P<nth>(?:st|nd|rd|th)\b)?|\b(?P<word>dozen)\b)"
    rf"(?:[\s\u00a0-]?(?P<scale>(?:{'|'.join(_SCALES)})\b))?",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|nearly|almost|approximately|circa|some)\s|[~≈])\s?$", re.IGNORECASE
)
_UNIT = re.compile(
    r"(?P<gap>[\s\u00a0\u202f]{0,2}-?)(?P<name>%|per\s?cent\b|us\$|[€£¥₹]|°\s?[cf]\b"
    r"|degrees?\s(?:celsius|fahrenheit)\b|km/h\b|(?:square|cubic)\s[^\W\d_]+|[^\W\d_]+[²³]?(?![\w²³:]))?",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\s(?:per\s?cent|in\s\d)")
_BYTES = re.compile(r"([kmgt])(i?)b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W\d_]+|[\d.,]+|\s+|[^\w\s]|_")
_LONG_SPANS = frozenset({"month", "year", "decade", "century", "millennium"})
"""Spans of the calendar, which are not exchanged for days."""


@dataclass(frozen=True)
class Quantity:
    """A number. `value` and `precision` (its last digit's worth) are in base units; `unit` may be ""."""

    value: float
    precision: float
    unit: str
    start: int
    end: int
    text: str
    number: float
    """The number as it is written, in its own unit."""
    step: float
    """The worth of its last digit, in its own unit."""
    is_measured: bool
    """Whether its unit is one of measure or money, no noun that is counted."""
    figure_end: int
    """Where the number ends with its unit of measure, without a noun that is counted."""
    is_about: bool = False
    """Whether it is given as approximate ("about 120")."""


@dataclass(frozen=True)
class Unit:
    """A unit of measure: its base unit, the factor to it, and what is added then (of temperatures)."""

    base: str
    factor: float = 1.0
    offset: float = 0.0


@cache
def _load_registry() -> pint.UnitRegistry[float]:
    import pint  # it loads numpy, which most processes never need

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(
        autoconvert_offset_to_baseunit=True, on_redefinition="ignore"
    )
    registry.define("century = 100 * year = _ = centuries")
    registry.define("decade_span = 10 * year = _ = decade = decades")
    return registry


class _Word(str, Token):  # type: ignore[misc]  # the library has no types
    """A word or blank as text2num wants it."""

    def text(self) -> str:
        """The word as it is written."""
        return str(self)


def find_quantities(text: str) -> list[Quantity]:
    """The numbers of a text in order, without a lone "one" (mostly a pronoun)."""
    found = list[Quantity]()
    for match in _NUMBER.finditer(text):
        digits = re.sub(r"[,\u00a0\u202f]", "", match["digits"] or "12")
        whole, _, decimals = digits.partition(".")
        zeros = len(whole) - len(whole.rstrip("0"))
        step = 10.0 ** -len(decimals) if decimals else 10.0**zeros if zeros >= 2 else 1.0
        scale = _SCALES[match["scale"].lower()] if match["scale"] else 1.0
        number = (float(digits) + _FRACTIONS.get(match["part"] or "", 0.0)) * (-1 if match["sign"] else 1)
        start = match.end() - len(match.group().lstrip())
        if match["nth"]:
            found.append(_read_unit(text, start, match.end(), number, is_ordinal=True))
            continue
        money = (match["money"] or "").lower()
        one = _read_unit(text, start, match.end(), number * scale, step=step * scale, money=money)
        is_about = bool(_ABOUT.search(text, max(0, start - 16), start))
        found.append(replace(one, is_about=is_about))
    words = list(map(_Word, _TOKEN.findall(text)))
    starts = [0, *accumulate(map(len, words))]
    for said in find_numbers(words, "en", 0):
        start, end = starts[said.start], starts[said.end]
        written = text[start:end].lower()
        if len(written) == 1 or written in _SCALES or written[0].isdigit():
            continue  # a letter, or after digits, which have it
        if said.is_ordinal:
            found.append(_read_unit(text, start, end, said.value, is_ordinal=True))
        elif written != "one" or _SHARE.match(text, end):
            scale = max((_SCALES.get(word, 1.0) for word in written.split()), default=1.0)
            found.append(_read_unit(text, start, end, said.value, step=scale))
    return sorted(found, key=lambda n: n.start)


def _read_unit(
    text: str,
    start: int,
    end: int,
    number: float,
    *,
    step: float = 0.0,
    money: str = "",
    is_ordinal: bool = False,
) -> Quantity:
    """The number of a span with the unit that follows it."""
    if is_ordinal:
        return Quantity(number, 0.0, "th", start, end, text[start:end], number, 0.0, False, end)
    match = _UNIT.match(text, end)
    name = match["name"] if match and not money else ""
    unit, noun = find_unit(name) if name else None, ""
    if money:
        unit = Unit(_CURRENCIES.get(money, money))
    elif unit is None and name and name[0].islower() and not is_stopword(name):
        noun = _singularize(name.lower())
    if unit is not None and name in ("m", "k", "B") and match and match["gap"] == "":
        unit, noun = None, ""  # "5m" may be metres or millions
    value, precision = number, step
    if unit:
        value, precision = number * unit.factor + unit.offset, step * unit.factor
        end = end if money or match is None else match.end()
    figure_end = end
    if noun and match:
        end = match.end()
    base = unit.base if unit else noun
    shown = text[start:end].strip()
    return Quantity(
        round(value, 9), round(precision, 9), base, start, end, shown, number, step, bool(unit), figure_end
    )


@lru_cache(maxsize=4096)
def find_unit(name: str) -> Unit | None:
    """A unit of measure, share or money by its name or sign; None for any other word."""
    from pint import PintError

    said = re.sub(r"\s+", " ", name.strip())
    lower = _singularize(said.lower())
    if lower in ("%", "per cent", "percent"):
        return Unit("%")
    if lower in _CURRENCIES or lower in "€£¥₹":
        return Unit(_CURRENCIES.get(lower, lower))
    if said not in "msghltWVKB" if len(said) == 1 else is_stopword(said):
        return None
    if sized := _BYTES.fullmatch(said):  # "64 kb" is no area
        said = f"{sized[1].upper() if sized[2] or sized[1] not in 'kK' else 'k'}{sized[2].lower()}B"
    said = said.replace("²", "**2").replace("³", "**3")
    said = re.sub(r"^(?:°\s?|degrees? )(?=[cf])", "deg", said, flags=re.IGNORECASE)
    said = {"degc": "degC", "degf": "degF", "cc": "cm**3", "kmh": "km/h"}.get(said.lower(), said)
    for spelling in dict.fromkeys((said, said.lower() if len(said) > 3 else said)):
        registry = _load_registry()
        try:
            parsed = registry.parse_units(spelling)
            zero, one = (registry.Quantity(n, parsed).to_base_units() for n in (0.0, 1.0))
        except (PintError, ValueError, TypeError, AttributeError):
            continue
        if _singularize(lower) in _LONG_SPANS:
            months = registry.Quantity(1.0, parsed).to(registry.Unit("month")).magnitude
            return Unit("month", round(months, 6))
        return Unit(f"{one.units:~}", one.magnitude - zero.magnitude, zero.magnitude)
    return None


def is_given(n: Quantity, other: Quantity) -> bool:
    """Is a number of the claim the other, perhaps rounded?"""
    if n.unit == other.unit:
        return is_rounding(n.value, other.value, n.precision)
    units = {n.unit, other.unit}
    if units == {"%", ""}:
        share, bare = (n, other) if n.unit == "%" else (other, n)
        return share.number == bare.number or abs(share.number / 100 - bare.number) < 1e-9
    if n.is_measured and other.is_measured:
        return False
    return is_rounding(n.number, other.number, n.step)


def is_rounding(value: float, full: float, step: float) -> bool:
    """Is a value the full one, or that rounded to its last digit?"""
    apart, larger = abs(value - full), max(abs(value), abs(full))
    return apart <= 1e-9 * max(1.0, larger) or (
        apart <= step / 2 * 1.000001 and apart <= MAX_ROUNDING * larger
    )


def is_same_quantity(a: Quantity, b: Quantity) -> bool:
    """Are two numbers the same, one perhaps rounded or approximate? 0.12 equals 12 %."""
    is_near = a.unit == b.unit and abs(a.value - b.value) <= MAX_ROUNDING * max(abs(a.value), abs(b.value))
    return is_given(a, b) or is_given(b, a) or (is_near and (a.is_about or b.is_about))


def _singularize(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word
