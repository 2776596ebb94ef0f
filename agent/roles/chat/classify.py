"""What does a question want: information, or a place to go to? The simple way's only fork. Knows kinds of
facilities, not where they are."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent.roles.role import Role
from agent.text.geo import find_facility_kinds, find_facility_word, is_nearest_request, parse_coordinates

_ASKS_WHERE = re.compile(
    r"\b(?:where (?:is|are|can i|do i|could i|to)|find (?:me )?(?:a|an|the|all)|is there (?:a|an|any)|are there (?:any )?|any \w+ (?:in|near)"
    r"|(?:list|show(?: me)?) (?:me )?(?:all|every|the)\b|all (?:the )?\w+ (?:in|near)|(?:which|what) [\w ]{2,30} (?:are|is) there"
    r"|var (?:finns|ligger)|finns det|vilka [\w ]{2,30} finns|wo (?:ist|gibt|finde)|gibt es|welche [\w ]{2,30} gibt)",
    re.IGNORECASE,
)


class ClassifyReply(BaseModel):
    """The intent and why."""

    model_config = ConfigDict(extra="ignore")

    intent: Literal["information", "location_search"]
    reasoning: str = ""


def fallback(*, question: str, kinds: list[str]) -> ClassifyReply:
    """A place is wanted when a kind of facility is named together with where, near or a point on the map."""
    named = find_facility_kinds(question, kinds)
    if named and (
        is_nearest_request(question) or _ASKS_WHERE.search(question) or parse_coordinates(question)
    ):
        return ClassifyReply(intent="location_search", reasoning=f"It asks where to find a {named[0]}.")
    if kinds and (other := find_facility_word(question)):
        return ClassifyReply(
            intent="location_search", reasoning=f"It asks where to find a {other}, a kind that is not known."
        )
    return ClassifyReply(
        intent="information",
        reasoning="It asks for information." if kinds else "There are no facilities to look for.",
    )


CLASSIFY = Role(name="classify", reply=ClassifyReply, fallback=fallback, tier="fast")
