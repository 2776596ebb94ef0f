"""A sentence of a reply with its place in an answer that no model wrote; models never see it."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agent.roles.role import RoleReply, Share
from agent.types.answers import SentencePlace


class PlacedSentence(RoleReply):
    """Base of the sentences of a reply."""

    place: SkipJsonSchema[SentencePlace] = Field(default="", exclude=True)
    """As `Sentence.place`."""
    heading: SkipJsonSchema[str] = Field(default="", exclude=True)
    """The path of headings its quote stands under, where `place` is set."""
    part_question: SkipJsonSchema[str] = Field(default="", exclude=True)
    """The part of a compound question that it answers, in the person's words, where `place` is set."""

    fit: SkipJsonSchema[Share | None] = Field(default=None, exclude=True)
    """As `Sentence.fit`: of a lead."""

    @property
    def placement(self) -> dict[str, Any]:
        """`place`, `heading`, `part_question` and `fit`, to build a sentence at the same place."""
        return {name: getattr(self, name) for name in PlacedSentence.model_fields}


class PassagesReply(RoleReply):
    """Base of the replies that code writes from passages where no model does."""

    not_found: SkipJsonSchema[list[str]] = Field(default_factory=list, exclude=True)
    """The parts of a compound question that no passage answers, in the person's words."""
