"""What does a question want: information, or a place to go to? The simple way's only fork. Knows kinds of facilities, not where they are."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent.roles.role import Role
from agent.text.places import asks_nearest, coordinates, kinds_in

_WHERE = re.compile(
    r"\b(?:where (?:is|are|can i|do i|could i|to)|find (?:me )?(?:a|an|the)|is there (?:a|an)|any \w+ (?:in|near)"
    r"|var (?:finns|ligger)|wo (?:ist|gibt|finde))",
    re.IGNORECASE,
)


class ClassifyReply(BaseModel):
    """The intent and why."""

    model_config = ConfigDict(extra="ignore")

    intent: Literal["information", "location_search"]
    reasoning: str = ""


def keyless(*, question: str, kinds: list[str]) -> ClassifyReply:
    """A place is wanted when a kind of facility is named together with where, near or a point on the map."""
    named = kinds_in(question, kinds)
    if named and (asks_nearest(question) or _WHERE.search(question) or coordinates(question)):
        return ClassifyReply(intent="location_search", reasoning=f"It asks where to find a {named[0]}.")
    return ClassifyReply(intent="information", reasoning="It asks for information." if kinds else "There are no facilities to look for.")


CLASSIFY = Role(name="classify", reply=ClassifyReply, keyless=keyless, tier="fast")
