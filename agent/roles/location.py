"""What kind of facility is asked for, and near what? Reads the words; where things are, code looks up afterwards."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.text.places import coordinates, kinds_in, somewhere
from agent.text.words import tokens
from agent.types import Turn

SHOWN = 5
"""Facilities that are listed when no number was said."""
MOST = 20
RECALLED = 6
"""Turns before this one that a kind or a place may stand in."""
_SEVERAL = re.compile(r"\b(\d{1,2})\s+(?:\w+\s+)?(?:near|clos|närm|nächst)|\b(?:near|clos)est\s+(\d{1,2})\b", re.IGNORECASE)
_COUNTED = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
_ALL = re.compile(r"\b(?:all|every|list|which|alla|alle|tous|todos)\b", re.IGNORECASE)


class LocationReply(BaseModel):
    """What is looked for. `near` is a place in the person's words or a pair of coordinates, empty when none was named."""

    model_config = ConfigDict(extra="ignore")

    kind: str = Field(description="one of the kinds there are, spelled as there; empty when none of them is meant")
    near: str = ""
    most: int = Field(default=SHOWN, ge=1, le=MOST)


def keyless(*, question: str, history: list[Turn], kinds: list[str], places: list[str]) -> LocationReply:
    """The kind and the place that the turn names; what it leaves out is taken from the newest turn that names it."""
    said = [question, *(turn.user for turn in reversed(history[-RECALLED:]))] if history else [question]
    near = next((place for text in said if (place := _near(text, kinds, places))), "")
    kind = next((named[0] for text in said if (named := _kinds(text, near, kinds))), "")
    return LocationReply(kind=kind, near=near, most=_most(question))


def _kinds(text: str, near: str, kinds: list[str]) -> list[str]:
    """The kinds a text names beside its place (which may be called after one)."""
    return kinds_in(text.replace(near, " "), kinds) if near and near != text else kinds_in(text, kinds)


def _near(text: str, kinds: list[str], places: list[str]) -> str:
    """The words behind "near", "in" and the like when a known place is among them; else a known place; else those words, if they name no kind."""
    if coordinates(text):
        return text
    words = somewhere(text)
    if words and _named(words, places):
        return words
    return _named(text, places) or ("" if kinds_in(words, kinds) else words)


def _named(text: str, places: list[str]) -> str:
    """The longest place name in a text; "" for none."""
    spelled = f" {' '.join(tokens(text))} "
    return max((place for place in places if f" {' '.join(tokens(place))} " in spelled), key=len, default="")


def _most(text: str) -> int:
    if match := _SEVERAL.search(text):
        return max(1, min(MOST, int(match[1] or match[2])))
    counted = next((n for word, n in _COUNTED.items() if word in tokens(text)), 0)
    return counted or (MOST if _ALL.search(text) else SHOWN)


LOCATION = Role(name="location", reply=LocationReply, keyless=keyless, tier="fast")
