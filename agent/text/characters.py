"""Characters of a text in their plain form: ligatures, wide and styled letters, invisible marks."""

from __future__ import annotations

import re
import unicodedata

_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\ufffe\x00-\x08\x0e-\x1f]")
"""Soft hyphens, zero-width spaces and control characters. Joiners stay: Persian and emoji need them."""
_PLAIN_FORMS = {
    "<compat>",
    "<noBreak>",
    "<font>",
    "<initial>",
    "<medial>",
    "<final>",
    "<isolated>",
    "<square>",
}
"""The kinds of compatibility forms (Unicode, chapter 3.7) that are replaced. Not among them: <super>, <sub>,
<fraction> and <circle>, which change a figure (10² is not 102)."""
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_SUBSCRIPTS = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_RAISABLE = re.compile(r"[\d+\-−=()n]{1,9}", re.ASCII)


def normalize_characters(text: str) -> str:
    """The text in composed form (NFC), with ligatures and wide or styled letters in their plain form (NFKC)
    and without invisible characters; superscripts, subscripts, fractions, marks and spaces stay."""
    if text.isascii() and text.isprintable():
        return text
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    plain = {ord(c): form for c in set(text) if c > "\u007f" and (form := _plain_form(c)) != c}
    return text.translate(plain) if plain else text


def raise_figures(text: str) -> str:
    """Figures as superscripts ("2" as "²"); "" where the text holds anything else, such as "st"."""
    return text.translate(_SUPERSCRIPTS) if _RAISABLE.fullmatch(text) else ""


def lower_figures(text: str) -> str:
    """Figures as subscripts; "" where the text holds anything else."""
    return text.translate(_SUBSCRIPTS) if _RAISABLE.fullmatch(text) and "n" not in text else ""


def _plain_form(character: str) -> str:
    kind, _, form = unicodedata.decomposition(character).partition(" ")
    is_replaced = kind in _PLAIN_FORMS or (kind in ("<wide>", "<narrow>") and character.isalnum())
    if not is_replaced or form.startswith("0020 ") or character == "…":
        return character
    return unicodedata.normalize("NFKC", character)
