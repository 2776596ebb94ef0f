"""Reads what kind of facility is asked for, and near what. Where things are, code looks up afterwards."""

from __future__ import annotations

import re

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.text.geo import find_facility_kinds, find_place_phrase, parse_coordinates
from agent.text.tokens import tokenize
from agent.types import Turn

DEFAULT_COUNT, MAX_COUNT = 5, 20
"""Facilities that are listed when no number is given, and at most."""
MAX_TURNS = 6
"""Earlier turns in which a kind or a place is looked for."""
_COUNT = re.compile(
    r"\b(\d{1,2})\s+(?:\w+\s+)?(?:near|clos|närm|nächst)|\b(?:near|clos)est\s+(\d{1,2})\b", re.IGNORECASE
)
_NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
_ALL = re.compile(r"\b(?:all|every|list|which|alla|alle|tous|todos)\b", re.IGNORECASE)


class LocationReply(RoleReply):
    """What is looked for. `near`: a place in the person's words or a pair of coordinates; or empty."""

    kind: str = Field(
        description="one of the kinds there are, spelled as there; empty when none of them is meant"
    )
    near: str = ""
    most: int = Field(default=DEFAULT_COUNT, ge=1, le=MAX_COUNT)


def fallback(*, question: str, history: list[Turn], kinds: list[str], places: list[str]) -> LocationReply:
    """The kind and the place that the turn names, or else the newest earlier turn that names one."""
    texts = [question, *(turn.user for turn in reversed(history[-MAX_TURNS:]))]
    near = next((place for text in texts if (place := _find_place(text, kinds, places))), "")
    kind = next((found[0] for text in texts if (found := _find_kinds(text, near, kinds))), "")
    return LocationReply(kind=kind, near=near, most=_read_count(question))


def _find_kinds(text: str, near: str, kinds: list[str]) -> list[str]:
    """The kinds a text names outside its place, which may be called after one."""
    return find_facility_kinds(text.replace(near, " ") if near and near != text else text, kinds)


def _find_place(text: str, kinds: list[str], places: list[str]) -> str:
    """Coordinates; the words behind "near" or "in" with a known place among them; else a known place; else
    those words, if they name no kind."""
    if parse_coordinates(text):
        return text
    words = find_place_phrase(text)
    if words and _find_place_name(words, places):
        return words
    return _find_place_name(text, places) or ("" if find_facility_kinds(words, kinds) else words)


def _find_place_name(text: str, places: list[str]) -> str:
    """The longest place name in a text; "" for none."""
    spelled = f" {' '.join(tokenize(text))} "
    return max(
        (place for place in places if f" {' '.join(tokenize(place))} " in spelled), key=len, default=""
    )


def _read_count(text: str) -> int:
    if match := _COUNT.search(text):
        return max(1, min(MAX_COUNT, int(match[1] or match[2])))
    counted = next((n for word, n in _NUMBER_WORDS.items() if word in tokenize(text)), 0)
    return counted or (MAX_COUNT if _ALL.search(text) else DEFAULT_COUNT)


LOCATION = Role(name="location", reply=LocationReply, fallback=fallback, tier="fast")
