"""Decides whether a question wants information or a place to go to: the only branch of the simple chat. Knows
kinds of facilities, not where they are."""

from __future__ import annotations

import re
from typing import Literal

from agent.roles.role import Role, RoleReply
from agent.text.geo import find_facility_kinds, find_facility_word, is_nearest_request, parse_coordinates

_ASKS_WHERE = re.compile(
    r"\b(?:where (?:is|are|can i|do i|could i|to)|find (?:me )?(?:a|an|the|all)|is there (?:a|an|any)"
    r"|are there (?:any )?"
    r"|any \w+ (?:in|near)|(?:list|show(?: me)?) (?:me )?(?:all|every|the)\b|all (?:the )?\w+ (?:in|near)"
    r"|(?:which|what) [\w ]{2,30} (?:are|is) there|var (?:finns|ligger)|finns det|vilka [\w ]{2,30} finns"
    r"|wo (?:ist|gibt|finde)|gibt es|welche [\w ]{2,30} gibt)",
    re.IGNORECASE,
)


class ClassifyReply(RoleReply):
    """The intent and why."""

    intent: Literal["information", "location_search"]
    reasoning: str = ""


def is_location_search(question: str, kinds: list[str]) -> bool:
    """Does a question name a kind of facility together with "where", "near" or a point on the map, or a kind
    that is not among `kinds`? Never when there are no kinds."""
    is_place = is_nearest_request(question) or _ASKS_WHERE.search(question) or parse_coordinates(question)
    return bool(
        kinds and ((is_place and find_facility_kinds(question, kinds)) or find_facility_word(question))
    )


def fallback(*, question: str, kinds: list[str]) -> ClassifyReply:
    """By the words that ask for a place."""
    if is_location_search(question, kinds):
        kind = [*find_facility_kinds(question, kinds), find_facility_word(question)][0]
        return ClassifyReply(intent="location_search", reasoning=f"It asks where to find a {kind}.")
    reason = "It asks for information." if kinds else "There are no facilities to look for."
    return ClassifyReply(intent="information", reasoning=reason)


CLASSIFY = Role(name="classify", reply=ClassifyReply, fallback=fallback, tier="fast")
