"""All roles, and values for the blanks of their prompts, made from the types of the fallback's parameters."""

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
from agent.roles.role import Role
from agent.types import Stall

PERSONS_WORDS = {
    "question",
    "notes",
    "instruction",
    "prompt",
    "task",
    "introduction",
    "engines",
}
"""Blanks that hold a person's own words, or the program's own."""
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


def fill_blanks(role: Role, text: str, *, own: str = "Who?") -> dict[str, Any]:
    """Blanks in which every text is `text`, and every word of the person `own`."""
    hints = typing.get_type_hints(role.fallback)
    hints.pop("return")
    strangers = {"question"} if role.name in STRANGERS_QUESTIONS else set()
    return {
        name: _fill(
            Stall if hint in (Any, Any | None) else hint, own if name in PERSONS_WORDS - strangers else text
        )
        for name, hint in hints.items()
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
