"""Reads a person's notes on an answer: what is to be left out, changed, added, and in which form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from agent.roles.note_requests import read_note
from agent.roles.role import Role, RoleReply
from agent.text.names import find_names
from agent.text.question_parts import is_asking, resolve_parts
from agent.types import Note, PlanPart

MAX_ITEMS = 3
"""New sub-questions and searches of one reading (our own judgement: a note asks for few)."""


class RevisionReply(RoleReply):
    """What the notes ask for; code checks every id and site."""

    understood: str = Field(default="", description="what is to be done, in one short line")
    excluded_sites: list[str] = Field(default_factory=list, description="hosts or addresses ruled out")
    excluded_topics: list[str] = Field(default_factory=list, description="matters not to speak of")
    about: list[str] = Field(
        default_factory=list, description="ids of sentences (s3), headings (h2), parts (2) to be changed"
    )
    only_parts: list[str] = Field(default_factory=list, description="ids of parts; empty for all")
    questions: list[str] = Field(default_factory=list, description="new sub-questions")
    searches: list[str] = Field(default_factory=list, description="what to look for")
    length: Literal["same", "shorter", "brief", "standard", "full"] = Field(
        default="same", description="another length, if asked for"
    )
    max_words: int = Field(default=0, ge=0, description="0 for no limit")
    form: str = Field(default="", description="a form asked for, such as a table")
    is_whole: bool = Field(default=False, description="whether the whole answer is to be written again")
    needs_research: bool = Field(default=False, description="whether something new must be looked for")
    not_understood: SkipJsonSchema[list[str]] = Field(default_factory=list, exclude=True)
    """What the rules do not understand; no model fills it."""


def fallback(
    *,
    question: str,
    notes: Sequence[Note],
    parts: Sequence[PlanPart],
    lines: Sequence[str] = (),
    sites: Sequence[str] = (),
) -> RevisionReply:
    """What rules understand: exclusions, length, parts, addresses, topics and questions. A comment looks for
    what its sentence says, or for what it names or asks itself; a pronoun is what that sentence, or the
    question, is plainly about."""
    reply = RevisionReply()
    for note in notes:
        asked = read_note(note.text, is_comment=note.kind == "comment")
        reply.excluded_sites += asked.sites
        reply.excluded_topics += asked.unwanted
        is_understood = note.kind == "comment" and (bool(asked.topics) or not asked.rest)
        about = f"“{note.quoted}" if note.quoted else question
        topics = resolve_parts([about, *asked.topics])[1:]
        for topic in topics:  # a question speaks for itself
            names = [] if is_asking(topic) else find_names(note.quoted)
            reply.searches.append(" ".join([topic, *(name for name in names if name not in topic)]))
        if is_understood and not (topics or asked.unwanted):
            reply.searches.append(note.quoted)
        reply.length = "shorter" if asked.is_shorter else asked.length or reply.length
        reply.max_words = asked.max_words or reply.max_words
        if asked.part is not None and asked.part >= len(parts):
            reply.not_understood.append(note.text)
        elif asked.part is not None:
            (reply.only_parts if asked.is_only_part else reply.about).append(parts[asked.part].id)
        reply.needs_research |= bool(asked.topics or asked.addresses or asked.wants_more or is_understood)
        reply.not_understood += asked.rest
    reply.is_whole = reply.length != "same" or bool(reply.max_words)
    return reply


REVISION = Role(name="revision", reply=RevisionReply, fallback=fallback, tier="strong")
