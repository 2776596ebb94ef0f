"""All roles, and values for the blanks of their prompts, made from what is shown there."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import pkgutil
import types
import typing
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

import agent.roles
from agent.errors import PromptError
from agent.roles.check_claims import ClaimShown, FailedSentence, NumberedSentence, QuoteShown
from agent.roles.collect import DigestItem, ItemPreview
from agent.roles.prompt_templates import render
from agent.roles.research import AnalyzerReply, ShownPage
from agent.roles.role import Role
from agent.roles.site import SitePage, UnvisitedUrl
from agent.types import (
    Action,
    Answer,
    Conflict,
    Fact,
    Lead,
    LibrarySource,
    Note,
    PageRef,
    Passage,
    PlanPart,
    Refusal,
    SearchHit,
    Sentence,
    Stall,
    Turn,
)
from agent.types.answers import ReportLength, SectionForm
from agent.types.collection import CollectIntent, LinkCandidate, PageFeatures

PERSONS_WORDS = {"question", "notes", "instruction", "prompt", "task", "introduction", "engines"}
"""Blanks that hold a person's own words, or the program's own."""
TEXTS = "actions brief engines excluded found headings kept kinds lines notes outline places settled sites titles tried wishes"
NUMBERS = "depth iteration left_out limit max_articles max_depth max_iterations max_urls most pictures"
TYPES: dict[str, Any] = {
    **dict.fromkeys(TEXTS.split(), list[str]),
    **dict.fromkeys(f"{NUMBERS} remaining unlisted".split(), int),
    "blockage": Stall,
    "by_words": dict[str, float],
    "check_claims.claims": list[ClaimShown],
    "conflicts": list[Conflict],
    "dated": bool,
    "decision.history": list[Action],
    "decision.refused": list[Refusal],
    "decision.report": AnalyzerReply,
    "digest.former": Answer,
    "digest.items": list[DigestItem],
    "facts": list[Fact],
    "failures": list[PageRef],
    "find_claims.sentences": list[NumberedSentence],
    "form": SectionForm,
    "history": list[Turn],
    "index": list[LibrarySource],
    "intent": CollectIntent,
    "is_length_final": bool,
    "items": list[ItemPreview],
    "leads": list[Lead],
    "length": ReportLength,
    "level": float,
    "links": list[LinkCandidate],
    "pages": list[ShownPage],
    "parts": list[PlanPart],
    "passages": list[Passage],
    "prior": list[Fact],
    "quotes": list[QuoteShown],
    "repair.sentences": list[FailedSentence],
    "results": list[SearchHit],
    "revision.notes": list[Note],
    "section.former": list[Sentence],
    "sentences": list[Sentence],
    "signs": PageFeatures,
    "site_decision.pages": list[SitePage],
    "threshold": float,
    "turns": list[Turn],
    "unread": list[Lead],
    "unvisited": list[UnvisitedUrl],
}
"""What stands in a blank, or in that of one role, where it is no text."""
STRANGERS_QUESTIONS = {"gate", "selection", "writing", "verification"}
"""Roles whose question comes from a community."""


def find_roles() -> list[Role]:
    """Every role of the package, by name."""
    modules = pkgutil.walk_packages(agent.roles.__path__, "agent.roles.")
    found = {
        value.name: value
        for module in modules
        for value in vars(importlib.import_module(module.name)).values()
        if isinstance(value, Role)
    }
    return [found[name] for name in sorted(found)]


def find_blanks(role: str) -> list[str]:
    """The names that a role's prompt wants filled in."""
    try:
        render(role)
    except PromptError as refusal:
        return str(refusal).partition(" wants ")[2].removesuffix(", which was not given.").split(", ")
    return []


def fill_blanks(role: Role, text: str, *, own: str = "Who?") -> dict[str, Any]:
    """Blanks in which every text is `text`, and every word of the person `own`."""
    strangers = {"question"} if role.name in STRANGERS_QUESTIONS else set()
    return {
        name: _fill(
            TYPES.get(f"{role.name}.{name}", TYPES.get(name, str)),
            own if name in PERSONS_WORDS - strangers else text,
        )
        for name in find_blanks(role.name)
    }


def _fill(kind: Any, text: str) -> Any:
    """A value of this type with `text` wherever a text may stand."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is str:
        return text
    if origin in (Union, types.UnionType):
        return _fill(next(option for option in inner if option is not type(None)), text)
    if origin is Literal:
        return inner[0]
    if origin is typing.Annotated:
        return _fill(inner[0], text)
    if origin is dict:
        return {_fill(inner[0], text): _fill(inner[1], text)}
    if origin is not None:  # a list, tuple or sequence
        return [_fill(inner[0], text)]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        hints = typing.get_type_hints(kind, include_extras=True)
        values = {name: _fill(hints[name], text) for name in kind.model_fields}
        return kind.model_construct(**values)
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{field.name: _fill(hints[field.name], text) for field in dataclasses.fields(kind)})
    return {bool: True, int: 1, float: 0.5}[kind]
